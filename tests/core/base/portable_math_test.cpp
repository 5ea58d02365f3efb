#include <keyway/core/base/philox.h>
#include <keyway/core/base/portable_math.h>
#include <keyway/tests/catch.h>

#include <cmath>
#include <limits>

using namespace keyway;

namespace {

// How far `x` is from `exact`, in units of the last place of `scale`.
template <typename T>
double units(T x, long double exact, long double scale) {
  int exponent = 0;
  (void)std::frexp(scale, &exponent);
  const auto unit = std::ldexp(1.0L, exponent - std::numeric_limits<T>::digits);
  return static_cast<double>(std::abs(static_cast<long double>(x) - exact) / unit);
}

// Numbers of [0, 1), most of them anywhere, some near the ends.
template <typename T>
T number(std::uint64_t i) {
  const PhiloxBlock bits = PhiloxCall{1, 0}.bits(i);
  const T x = std::is_same_v<T, float> ? static_cast<T>(uniform_float(bits.words[0]))
                                       : static_cast<T>(uniform_double(bits.wide(0)));
  const int scale = static_cast<int>(i % 20);
  return i % 3 == 0 ? std::ldexp(x, -scale) : i % 3 == 1 ? 1 - std::ldexp(x, -scale) : x;
}

template <typename T>
void check_log() {
  double worst = 0;
  for (std::uint64_t i = 0; i < 200000; ++i) {
    const T x = 1 - number<T>(i);
    if (x <= 0) continue;
    const long double exact = std::log(static_cast<long double>(x));
    worst = std::max(
        worst, exact == 0 ? std::abs(static_cast<double>(portable::log(x))) : units(portable::log(x), exact, exact));
  }
  CHECK(worst < 2.5);
}

template <typename T>
void check_turn() {
  double worst = 0;
  for (std::uint64_t i = 0; i < 200000; ++i) {
    const T share = number<T>(i);
    const portable::CosineSine<T> turn = portable::cosine_sine_of_turns(share);
    const long double angle = 6.283185307179586476925286766559L * static_cast<long double>(share);
    worst = std::max(worst, units(turn.cosine, std::cos(angle), 0.9L));
    worst = std::max(worst, units(turn.sine, std::sin(angle), 0.9L));
  }
  CHECK(worst < 2);
}

}  // namespace

TEST_CASE("logarithms are right to some units in the last place") {
  check_log<float>();
  check_log<double>();
  CHECK(portable::log(1.0f) == 0);
  CHECK(portable::log(1.0) == 0);
  CHECK(units(portable::log(1e300), std::log(1e300L), 700) < 2.5);
  CHECK(units(portable::log(1e-300), std::log(1e-300L), 700) < 2.5);
}

TEST_CASE("cosine and sine of shares of a turn are right to some units in the last place") {
  check_turn<float>();
  check_turn<double>();
  CHECK(portable::cosine_sine_of_turns(0.0).cosine == 1);
  CHECK(portable::cosine_sine_of_turns(0.25f).sine == 1);
  CHECK(portable::cosine_sine_of_turns(0.25f).cosine == 0);
  CHECK(portable::cosine_sine_of_turns(0.5).cosine == -1);
  CHECK(portable::cosine_sine_of_turns(0.75).sine == -1);
}

TEST_CASE("the bits of portable functions are these, wherever they are computed") {
  CHECK(portable::log(0.3f) == -0x1.34379p+0f);
  CHECK(portable::log(0.3) == -0x1.34378fcbda721p+0);
  CHECK(portable::cosine_sine_of_turns(0.1f).cosine == 0x1.9e3778p-1f);
  CHECK(portable::cosine_sine_of_turns(0.1).sine == 0x1.2cf2304755a5ep-1);
}
