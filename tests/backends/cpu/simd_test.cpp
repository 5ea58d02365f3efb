// The elementary functions of the CPU's loops, against the C library's in double. A run takes every 20011th float; with
// KEYWAY_EXHAUSTIVE=1 in the environment it takes all of them, which is how the bounds were found.
#include <keyway/backends/cpu/pointwise.h>
#include <keyway/ops/functors/activation.h>
#include <keyway/ops/functors/division.h>
#include <keyway/ops/functors/exponential.h>
#include <keyway/ops/functors/sigmoid.h>
#include <keyway/ops/functors/trigonometric.h>
#include <keyway/tests/backends/cpu/random_tensor.h>
#include <keyway/tests/backends/cpu/settings.h>
#include <keyway/tests/catch.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <limits>

using namespace keyway;
using namespace keyway::testing;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::uint64_t step() { return std::getenv("KEYWAY_EXHAUSTIVE") != nullptr ? 1 : 20011; }

// Distance of a float from the exact value, in units of the last place that a float near that value has.
double ulps(float got, double exact) {
  if (std::isnan(exact)) return std::isnan(got) ? 0 : kInf;
  const auto nearest = static_cast<float>(exact);
  if (std::isinf(nearest) || std::isinf(got)) return got == nearest ? 0 : kInf;
  if (nearest == 0 && got == 0) return std::signbit(got) == std::signbit(exact) ? 0 : kInf;
  int exponent = 0;
  std::frexp(exact, &exponent);
  return std::abs(got - exact) / std::ldexp(1.0, std::max(exponent - 24, -149));
}

constexpr std::int64_t kBlock = 32000;

// Calls f(inputs, results) for blocks of floats that together cover the range of all bit patterns.
template <typename F, typename Check>
void over_floats(const F& functor, Check check) {
  const TensorBase in = make_tensor(Sizes{kBlock}, kFloat, DeviceType::CPU);
  const TensorBase out = make_tensor(Sizes{kBlock}, kFloat, DeviceType::CPU);
  auto* const x = in.data_ptr<float>();
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32;) {
    for (std::int64_t i = 0; i < kBlock; ++i) {
      x[i] = std::bit_cast<float>(static_cast<std::uint32_t>(std::min<std::uint64_t>(bits, 0xffffffff)));
      bits += step();
    }
    pointwise(functor, out, in);
    check(x, out.data_ptr<float>());
  }
}

// The greatest error over all floats, at each level.
template <typename F>
void check_error(const F& functor, double (*exact)(double), double bound) {
  at_each_loop_level([&] {
    double greatest = 0;
    float at = 0;
    over_floats(functor, [&](const float* x, const float* y) {
      for (std::int64_t i = 0; i < kBlock; ++i) {
        const double error = ulps(y[i], exact(x[i]));
        if (error > greatest) {
          greatest = error;
          at = x[i];
        }
      }
    });
    INFO("greatest error " << greatest << " ulp, at " << at);
    CHECK(greatest <= bound);
  });
}

}  // namespace

TEST_CASE("elementary functions of float keep their error bounds over all floats") {
  check_error(
      Exp<float>{}, [](double x) { return std::exp(x); }, 1.0);
  check_error(
      Log<float>{}, [](double x) { return std::log(x); }, 0.83);
  check_error(
      Expm1<float>{}, [](double x) { return std::expm1(x); }, 1.6);
  check_error(
      Log1p<float>{}, [](double x) { return std::log1p(x); }, 1.4);
  check_error(
      Tanh<float>{}, [](double x) { return std::tanh(x); }, 2.3);
  check_error(
      Sigmoid<float>{}, [](double x) { return 1 / (1 + std::exp(-x)); }, 2.4);
  check_error(
      Erf<float>{}, [](double x) { return std::erf(x); }, 0.6);
  check_error(
      Gelu<float>("none"), [](double x) { return x * (std::erfc(-x * std::sqrt(0.5)) / 2); },
      15);  // the share is denormal there
}

TEST_CASE("functions of float that are computed in double are rounded once") {
  constexpr double kBound = 0.51;
  check_error(
      Exp2<float>{}, [](double x) { return std::exp2(x); }, kBound);
  check_error(
      Log2<float>{}, [](double x) { return std::log2(x); }, kBound);
  check_error(
      Log10<float>{}, [](double x) { return std::log10(x); }, kBound);
  check_error(
      Sin<float>{}, [](double x) { return std::sin(x); }, 0.6);  // large angles are the C library's
  check_error(
      Cos<float>{}, [](double x) { return std::cos(x); }, 0.6);
  check_error(
      Tan<float>{}, [](double x) { return std::tan(x); }, 0.9);
  check_error(
      Asin<float>{}, [](double x) { return std::asin(x); }, kBound);
  check_error(
      Acos<float>{}, [](double x) { return std::acos(x); }, kBound);
  check_error(
      Atan<float>{}, [](double x) { return std::atan(x); }, kBound);
  check_error(
      Sinh<float>{}, [](double x) { return std::sinh(x); }, kBound);
  check_error(
      Cosh<float>{}, [](double x) { return std::cosh(x); }, kBound);
  check_error(
      Asinh<float>{}, [](double x) { return std::asinh(x); }, kBound);
  check_error(
      Acosh<float>{}, [](double x) { return std::acosh(x); }, kBound);
  check_error(
      Atanh<float>{}, [](double x) { return std::atanh(x); }, kBound);
}

TEST_CASE("inverse hyperbolic functions at the ends of their domains are C's") {
  const TensorBase in = make_tensor(Sizes{6}, kFloat, DeviceType::CPU);
  const TensorBase out = make_tensor(Sizes{6}, kFloat, DeviceType::CPU);
  const float ends[] = {kInf, -kInf, kNan, 3e38f, -0.0f, 1.0f};
  std::copy(std::begin(ends), std::end(ends), in.data_ptr<float>());
  const auto check = [&](const auto& functor, double (*exact)(double)) {
    at_each_loop_level([&] {
      pointwise(functor, out, in);
      for (std::int64_t i = 0; i < 6; ++i) CHECK(ulps(out.data_ptr<float>()[i], exact(ends[i])) < 1);
    });
  };
  check(Asinh<float>{}, [](double x) { return std::asinh(x); });
  check(Acosh<float>{}, [](double x) { return std::acosh(x); });
  check(Atanh<float>{}, [](double x) { return std::atanh(x); });
}

TEST_CASE("gelu has a small absolute error") {
  at_each_loop_level([] {
    double greatest = 0;
    over_floats(Gelu<float>{"none"}, [&](const float* x, const float* y) {
      for (std::int64_t i = 0; i < kBlock; ++i) {
        const double v = x[i];
        if (!(std::abs(v) < 1e30)) continue;
        greatest = std::max(greatest,
                            std::abs(y[i] - 0.5 * v * (1 + std::erf(v * std::sqrt(0.5)))) / std::max(1.0, std::abs(v)));
      }
    });
    CHECK(greatest < 0x1p-21);
  });
}

TEST_CASE("powers and angles of pairs are rounded once, with C's special cases") {
  Rng rng(47);
  std::vector<float> special{
      0.0f,  -0.0f,  1,          -1,   2,      -2,      3,     -3,          0.5f,         -0.5f,
      2.5f,  kInf,   -kInf,      kNan, 1e-40f, -1e-40f, 1e30f, 16777217.0f, -16777216.0f, 4503599627370496.0f,
      1e38f, -1e38f, 33554431.0f};
  for (int i = 0; i < 150; ++i) {
    special.push_back(static_cast<float>(std::normal_distribution<double>(0, 3)(rng)));
    special.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(rng())));
  }
  const auto n = static_cast<std::int64_t>(special.size());
  const TensorBase x = make_tensor(Sizes{n, 1}, kFloat, DeviceType::CPU),
                   y = make_tensor(Sizes{n}, kFloat, DeviceType::CPU);
  const TensorBase out = make_tensor(Sizes{n, n}, kFloat, DeviceType::CPU);
  std::copy(special.begin(), special.end(), x.data_ptr<float>());
  std::copy(special.begin(), special.end(), y.data_ptr<float>());
  at_each_loop_level([&] {
    for (const bool power : {true, false}) {
      power ? pointwise(Pow<float>{}, out, x, y) : pointwise(Atan2<float>{}, out, x, y);
      for (std::int64_t i = 0; i < n * n; ++i) {
        const double a = special[static_cast<std::size_t>(i / n)], b = special[static_cast<std::size_t>(i % n)];
        INFO((power ? "pow " : "atan2 ") << a << ", " << b << " gives " << out.data_ptr<float>()[i]);
        REQUIRE(ulps(out.data_ptr<float>()[i], power ? std::pow(a, b) : std::atan2(a, b)) <= 0.51);
      }
    }
  });
}

TEST_CASE("AVX2 and AVX-512 give the same bits, wherever an element lies") {
  if (!KEYWAY_LOOPS_HAVE_LEVELS || best_level() != SimdLevel::Avx512) return;
  Rng rng(53);
  const auto check = [&](const auto& functor) {
    const std::int64_t n = 5003;
    const TensorBase in = make_tensor(Sizes{n}, kFloat, DeviceType::CPU);
    fill_storage<float>(in, [&] { return std::bit_cast<float>(static_cast<std::uint32_t>(rng())); });
    std::vector<float> whole(static_cast<std::size_t>(n)), one(static_cast<std::size_t>(n));
    const TensorBase out = make_tensor(Sizes{n}, kFloat, DeviceType::CPU);
    {
      const WithLevel with(SimdLevel::Avx512);
      pointwise(functor, out, in);
      std::copy_n(out.data_ptr<float>(), n, whole.begin());
    }
    const WithLevel with(SimdLevel::Avx2);
    for (std::int64_t i = 0; i < n; ++i) {
      const TensorBase from = make_view(in, Sizes{}, Sizes{}, i), to = make_view(out, Sizes{}, Sizes{}, i);
      pointwise(functor, to, from);
      const float a = out.data_ptr<float>()[i], b = whole[static_cast<std::size_t>(i)];
      REQUIRE((std::memcmp(&a, &b, sizeof a) == 0 || (std::isnan(a) && std::isnan(b))));
    }
  };
  check(Exp<float>{});
  check(Log<float>{});
  check(Tanh<float>{});
  check(Sigmoid<float>{});
  check(Sin<float>{});
  check(Gelu<float>{"none"});
  check(Silu<float>{});
  check(PowScalar<float>{1.7f});
}

TEST_CASE("exp and log of double keep their error bounds") {
  Rng rng(59);
  const auto check = [&](const auto& functor, long double (*exact)(long double), double low, double high,
                         bool logarithmic, double bound) {
    const std::int64_t n = 30000;
    const TensorBase in = make_tensor(Sizes{n}, kDouble, DeviceType::CPU),
                     out = make_tensor(Sizes{n}, kDouble, DeviceType::CPU);
    std::uniform_real_distribution<double> uniform(low, high);
    fill_storage<double>(in, [&] { return logarithmic ? std::exp2(uniform(rng)) : uniform(rng); });
    at_each_loop_level([&] {
      pointwise(functor, out, in);
      double greatest = 0;
      for (std::int64_t i = 0; i < n; ++i) {
        const long double want = exact(in.data_ptr<double>()[i]);
        int exponent = 0;
        std::frexp(want, &exponent);
        const long double unit = std::ldexp(1.0L, std::max(exponent - 53, -1074));
        greatest = std::max(greatest, static_cast<double>(std::abs(out.data_ptr<double>()[i] - want) / unit));
      }
      CHECK(greatest <= bound);
    });
  };
  check(
      Exp<double>{}, [](long double x) { return std::exp(x); }, -745, 709, false, 1.1);
  check(
      Exp<double>{}, [](long double x) { return std::exp(x); }, -2, 2, false, 1.1);
  check(
      Expm1<double>{}, [](long double x) { return std::expm1(x); }, -3, 3, false, 2.5);
  check(
      Expm1<double>{}, [](long double x) { return std::expm1(x); }, -60, 2, true, 2.5);
  check(
      Log<double>{}, [](long double x) { return std::log(x); }, -1074, 1023, true, 1.0);
  check(
      Log<double>{}, [](long double x) { return std::log(x); }, 0.5, 2, false, 1.0);
  check(
      Log1p<double>{}, [](long double x) { return std::log1p(x); }, -0.9, 3, false, 1.6);
  check(
      Log1p<double>{}, [](long double x) { return std::log1p(x); }, -60, 100, true, 1.6);
}

TEST_CASE("elementary functions of the narrow floats are those of float, rounded once, for all their values") {
  const auto check = []<typename T>(const auto& functor, double (*exact)(double)) {
    const TensorBase in = make_tensor(Sizes{65536}, cpp_type_to_scalar_type<T>, DeviceType::CPU);
    const TensorBase out = make_tensor(Sizes{65536}, cpp_type_to_scalar_type<T>, DeviceType::CPU);
    for (std::uint32_t i = 0; i < 65536; ++i) in.data_ptr<T>()[i] = T::from_bits(static_cast<std::uint16_t>(i));
    pointwise(functor, out, in);
    for (std::int64_t i = 0; i < 65536; ++i) {
      const double want = exact(static_cast<float>(in.data_ptr<T>()[i]));
      const float got = out.data_ptr<T>()[i], nearest = T(want);
      // Half a unit of its own, and what float adds to that.
      const double unit = std::ldexp(1.0, std::max(std::isfinite(nearest) && nearest != 0 ? std::ilogb(nearest) : -1000,
                                                   std::numeric_limits<T>::min_exponent - 1) +
                                              1 - std::numeric_limits<T>::digits);
      if (std::isnan(want) || std::isinf(nearest) || std::isinf(got)) {
        REQUIRE((got == nearest || (std::isnan(got) && std::isnan(want))));
      } else {
        REQUIRE(std::abs(got - want) <= 0.501 * unit);
      }
    }
  };
  const auto both = [&](auto make, double (*exact)(double)) {
    check.template operator()<Half>(make.template operator()<Half>(), exact);
    check.template operator()<BFloat16>(make.template operator()<BFloat16>(), exact);
  };
  both([]<typename T>() { return Exp<T>{}; }, [](double x) { return std::exp(x); });
  both([]<typename T>() { return Log<T>{}; }, [](double x) { return std::log(x); });
  both([]<typename T>() { return Tanh<T>{}; }, [](double x) { return std::tanh(x); });
  both([]<typename T>() { return Sin<T>{}; }, [](double x) { return std::sin(x); });
  both([]<typename T>() { return Sqrt<T>{}; }, [](double x) { return std::sqrt(x); });
  both([]<typename T>() { return Sigmoid<T>{}; }, [](double x) { return 1 / (1 + std::exp(-x)); });
}
