#include <keyway/backends/cpu/copy_tile.h>
#include <keyway/backends/cpu/kernels_binary.h>
#include <keyway/backends/cpu/pointwise.h>
#include <keyway/core/dtype/scalar.h>
#include <keyway/ops/functors/activation.h>
#include <keyway/ops/functors/arithmetic.h>
#include <keyway/ops/functors/comparison.h>
#include <keyway/ops/functors/division.h>
#include <keyway/ops/functors/extrema.h>
#include <keyway/ops/functors/operand.h>
#include <keyway/ops/functors/select.h>
#include <keyway/ops/functors/sign.h>
#include <keyway/tests/backends/cpu/random_tensor.h>
#include <keyway/tests/backends/cpu/settings.h>
#include <keyway/tests/campaign.h>
#include <keyway/tests/catch.h>

#include <cstring>
#include <limits>

using namespace keyway;
using namespace keyway::testing;

namespace {

// A shape that broadcasts to `sizes`: fewer dimensions, some of size 1.
Sizes narrowed(Rng& rng, const Sizes& sizes) {
  Sizes narrow = sizes;
  if (random_int(rng, 0, 2) != 0) return narrow;
  for (std::int64_t& size : narrow) {
    if (random_int(rng, 0, 2) == 0) size = 1;
  }
  const auto drop = random_int(rng, 0, static_cast<std::int64_t>(narrow.size()));
  for (std::int64_t d = 0; d < drop && !narrow.empty(); ++d) {
    if (random_int(rng, 0, 1) == 0) narrow.erase(narrow.begin());
  }
  return narrow;
}

template <typename T>
TensorBase random_input(Rng& rng, const Sizes& sizes, std::int64_t low = -4, std::int64_t high = 4) {
  const TensorBase tensor = random_geometry(rng, narrowed(rng, sizes), cpp_type_to_scalar_type<T>, Expand::Yes);
  fill_storage<T>(tensor, [&] { return small_value<T>(rng, low, high); });
  return tensor;
}

template <typename T>
bool same(T a, T b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

// Bytes of the storage with the elements of the tensor zeroed: what no kernel may have changed.
template <typename T>
std::vector<char> gaps(const TensorBase& tensor) {
  std::vector<char> bytes = storage_bytes(tensor);
  each_index(Sizes(tensor.sizes().begin(), tensor.sizes().end()), [&](const Sizes& index) {
    const auto at = reinterpret_cast<char*>(&element<T>(tensor, index)) - static_cast<char*>(tensor.storage().data());
    std::memset(bytes.data() + at, 0, sizeof(T));
  });
  return bytes;
}

template <typename F, typename Run, typename R, typename... A, std::size_t... k>
void check_case(Rng& rng, const F& functor, const Run& run, const Sizes& sizes, std::tuple<A...>*,
                std::index_sequence<k...>) {
  const TensorBase inputs[] = {random_input<A>(rng, sizes)...};
  const TensorBase out = random_geometry(rng, sizes, cpp_type_to_scalar_type<R>);
  fill_storage<R>(out, [&] { return small_value<R>(rng); });
  const std::vector<char> before = gaps<R>(out);
  pointwise(run, out, inputs[k]...);
  bool right = true;
  each_index(sizes, [&](const Sizes& index) {
    right = right && same<R>(element<R>(out, index), functor(element<A>(inputs[k], index)...));
  });
  REQUIRE(right);
  REQUIRE((gaps<R>(out) == before));
}

// What the driver makes of `run`, by what `functor` makes of single elements.
template <typename F, typename Run>
void check_random(const F& functor, const Run& run, int cases, std::int64_t max_rank) {
  using S = FunctorSignature<F>;
  Rng rng(7);
  for (int i = 0; i < campaign(cases); ++i) {
    const Sizes sizes = random_sizes(rng, random_int(rng, 0, max_rank));
    check_case<F, Run, typename S::Result>(rng, functor, run, sizes, static_cast<typename S::Arguments*>(nullptr),
                                           std::make_index_sequence<S::kArity>());
  }
}
template <typename F>
void check_random(const F& functor, int cases, std::int64_t max_rank = 6) {
  check_random(functor, functor, cases, max_rank);
}

template <typename T>
TensorBase vector_of(std::vector<T> values) {
  const TensorBase tensor =
      make_tensor(Sizes{static_cast<std::int64_t>(values.size())}, cpp_type_to_scalar_type<T>, DeviceType::CPU);
  std::copy(values.begin(), values.end(), tensor.data_ptr<T>());
  return tensor;
}

// The numbers of a 16-bit float in their order, which is that of their bits as sign and magnitude.
int place_of(std::uint16_t bits) { return (bits & 0x8000) != 0 ? -(bits & 0x7fff) : bits; }
std::uint16_t bits_at(int place) { return static_cast<std::uint16_t>(place < 0 ? 0x8000 - place : place); }

// What follows each number in the direction of another, by places alone. Both zeros have one place.
template <typename T>
void check_neighbours() {
  constexpr int kInfinity = std::is_same_v<T, Half> ? 0x7c00 : 0x7f80;
  for (const int target : {-kInfinity, -0x1234, -1, 0, 1, 0x1234, kInfinity}) {
    std::vector<T> from, towards;
    for (int place = -kInfinity; place <= kInfinity; ++place) from.push_back(T::from_bits(bits_at(place)));
    towards.assign(from.size(), T::from_bits(bits_at(target)));
    const TensorBase a = vector_of(from), b = vector_of(towards), out = make_tensor(a.sizes(), a.dtype(), kCPU);
    TensorBase result = out;
    cpu::nextafter(a, b, result);
    int wrong = 0;
    for (std::size_t i = 0; i < from.size(); ++i) {
      const int place = place_of(from[i].bits()), got = place_of(out.data_ptr<T>()[i].bits());
      const int expected = place + (target > place ? 1 : target < place ? -1 : 0);
      wrong += got == expected ? 0 : 1;
    }
    CHECK(wrong == 0);
  }
}

}  // namespace

TEST_CASE("nextafter of 16-bit floats is their own next number, not float32's") {
  check_neighbours<Half>();
  check_neighbours<BFloat16>();
}

TEST_CASE("pointwise computes any shapes, strides and broadcasts as element by element, at every level") {
  at_each_loop_level([] {
    check_random(Neg<float>{}, 150);
    check_random(Add<float>{2}, 200);
    check_random(Where<double>{}, 200);
    check_random(Lt<std::int16_t>{}, 100);
    check_random(Abs<complex<float>>{}, 100);
    check_random(Mul<complex<double>>{}, 100);
  });
}

TEST_CASE("pointwise computes every dtype") {
  visit_any(kBool, "", []<typename>() {});
  const auto check = []<typename T>() {
    check_random(Add<T>{T(1.0f)}, 30);
    check_random(Eq<T>{}, 20);
  };
  for (std::size_t i = 0; i < kNumScalarTypes; ++i) {
    const auto t = static_cast<ScalarType>(i);
    if (kAnyTypes.contains(t)) visit_any(t, "test", check);
  }
}

TEST_CASE("16-bit floats are converted on their way to loops of float32 and back") {
  at_each_loop_level([] {
    check_random(Neg<Half>{}, Neg<float>{}, 100, 6);
    check_random(Add<BFloat16>{0.3f}, Add<float>{0.3f}, 200, 6);
    check_random(Where<Half>{}, Where<float>{}, 100, 6);
    check_random(Lt<Half>{}, Lt<float>{}, 50, 6);
    check_random(Mul<complex<Half>>{}, Mul<complex<float>>{}, 100, 6);
    check_random(Abs<complex<Half>>{}, Abs<complex<float>>{}, 50, 6);
  });
  const WithThreads with(4);
  const TensorBase x = make_tensor(Sizes{3, 70000}, kHalf, DeviceType::CPU);
  fill_storage<Half>(x, [] { return Half(0.1f); });
  pointwise(Add<float>{0.3f}, x, x, x);
  const Half tenth(0.1f), expected = Add<Half>{0.3f}(tenth, tenth);
  each_index({3, 70000}, [&](const Sizes& index) { REQUIRE(element<Half>(x, index) == expected); });
  int visits = 0;
  visit_loop_dtype<Mul, kFloatingTypes>(kBFloat16, "test",
                                        [&]<typename T>() { visits += std::is_same_v<T, float> ? 1 : 9; });
  visit_loop_dtype<Mul, kAnyTypes>(kInt, "test",
                                   [&]<typename T>() { visits += std::is_same_v<T, std::int32_t> ? 1 : 9; });
  visit_loop_dtype<Mul, kAnyTypes>(kComplexHalf, "test", [&]<typename T, typename Element>() {
    visits += std::is_same_v<T, complex<float>> && std::is_same_v<Element, complex<Half>> ? 1 : 9;
  });
  CHECK(visits == 3);
  CHECK_THROWS_AS((visit_loop_dtype<Mul, kFloatingTypes>(kInt, "test", []<typename T>() {})), Error);
}

TEST_CASE("a number that stands for an element is rounded as elements are, though loops have them wider") {
  const TensorBase x = make_tensor(Sizes{40}, kHalf, DeviceType::CPU);
  const TensorBase equal = make_tensor(Sizes{40}, kBool, DeviceType::CPU);
  const Scalar tenth = 0.1;
  fill_storage<Half>(x, [] { return Half(0.1); });
  pointwise(EqScalar<float>{operand<Half>(tenth)}, equal, x);
  each_index({40}, [&](const Sizes& index) { REQUIRE(element<bool>(equal, index)); });
  pointwise(EqScalar<float>{operand(tenth)}, equal, x);
  each_index({40}, [&](const Sizes& index) { REQUIRE_FALSE(element<bool>(equal, index)); });
  pointwise(Hardtanh<float>{argument<Half>(Scalar(-1)), argument<Half>(tenth)}, x, x);
  each_index({40}, [&](const Sizes& index) { REQUIRE(element<Half>(x, index) == Half(0.1)); });
  CHECK_THROWS_AS((Hardtanh<float>{argument<Half>(Scalar(-1e6)), argument<Half>(tenth)}), Error);
}

TEST_CASE("functors that only move elements have them as bits, NaN among them") {
  const auto check = [](auto zero, ScalarType dtype) {
    using T = decltype(zero);
    visit_loop_dtype<MaskedFill, kAnyTypes>(dtype, "test", [&]<typename Bits, typename Element>() {
      REQUIRE(std::is_same_v<Element, T>);
      REQUIRE((sizeof(T) == 16 || std::is_unsigned_v<Bits>));
      const TensorBase x = make_tensor(Sizes{70}, dtype, DeviceType::CPU);
      const TensorBase mask = make_tensor(Sizes{70}, kBool, DeviceType::CPU);
      std::memset(x.storage().data(), 0xff, x.storage().nbytes());
      int count = 0;
      fill_storage<bool>(mask, [&] { return ++count % 3 == 0; });
      pointwise(MaskedFill<Bits>{argument<Element>(Scalar(7))}, x, x, mask);
      const T seven(7);
      unsigned char kept[sizeof(T)];
      std::memset(kept, 0xff, sizeof(T));
      each_index({70}, [&](const Sizes& index) {
        const T found = element<T>(x, index);
        REQUIRE(std::memcmp(&found, element<bool>(mask, index) ? static_cast<const void*>(&seven) : kept, sizeof(T)) ==
                0);
      });
    });
  };
  check(std::int8_t(), kChar);
  check(Half(), kHalf);
  check(BFloat16(), kBFloat16);
  check(float(), kFloat);
  check(complex<Half>(), kComplexHalf);
  check(std::int64_t(), kLong);
  check(complex<double>(), kComplexDouble);
}

TEST_CASE("pointwise takes 64 dimensions") {
  Sizes sizes(64, 1);
  for (const std::size_t d : {0u, 13u, 31u, 40u, 63u}) sizes[d] = 3;
  Rng rng(3);
  for (int i = 0; i < 20; ++i) {
    const TensorBase a = random_input<float>(rng, sizes), b = random_input<float>(rng, sizes);
    const TensorBase out = random_geometry(rng, sizes, kFloat);
    pointwise(Sub<float>{1}, out, a, b);
    each_index(sizes, [&](const Sizes& index) {
      REQUIRE(element<float>(out, index) == element<float>(a, index) - element<float>(b, index));
    });
  }
}

TEST_CASE("the output may be an input, in any geometry") {
  Rng rng(11);
  for (int i = 0; i < campaign(200); ++i) {
    const Sizes sizes = random_sizes(rng, random_int(rng, 0, 5));
    const TensorBase self = random_geometry(rng, sizes, kInt);
    fill_storage<std::int32_t>(self, [&] { return small_value<std::int32_t>(rng); });
    const TensorBase other = random_input<std::int32_t>(rng, sizes);
    std::vector<std::int32_t> expected;
    each_index(sizes, [&](const Sizes& index) {
      expected.push_back(element<std::int32_t>(self, index) - 3 * element<std::int32_t>(other, index));
    });
    pointwise(Sub<std::int32_t>{3}, self, self, other);
    std::size_t at = 0;
    each_index(sizes, [&](const Sizes& index) { REQUIRE(element<std::int32_t>(self, index) == expected[at++]); });
  }
}

TEST_CASE("large tensors are computed by several threads with the same result") {
  Rng rng(5);
  const Sizes sizes{129, 65, 63};
  for (int i = 0; i < 12; ++i) {
    const TensorBase a = random_input<float>(rng, sizes), b = random_input<float>(rng, sizes);
    TensorBase results[2];
    for (int t = 0; t < 2; ++t) {
      const WithThreads with(t == 0 ? 1 : 4);
      results[t] = make_tensor(sizes, kFloat, DeviceType::CPU);
      pointwise(Add<float>{0.3f}, results[t], a, b);
    }
    REQUIRE((storage_bytes(results[0]) == storage_bytes(results[1])));
  }
}

TEST_CASE("outputs too large for the caches are written past them, and right") {
  const std::int64_t rows = 1031, columns = stream_threshold() / 4 / 1000;
  const TensorBase a = make_tensor(Sizes{rows, columns}, kFloat, DeviceType::CPU);
  const TensorBase out = make_tensor(Sizes{rows, columns}, kFloat, DeviceType::CPU);
  const TensorBase row = make_tensor(Sizes{columns}, kFloat, DeviceType::CPU);
  const TensorBase one = make_tensor(Sizes{}, kFloat, DeviceType::CPU);
  float next = 0;
  for (const TensorBase& t : {a, row, one})
    fill_storage<float>(t, [&] { return next = next > 1000 ? 0 : next + 0.5f; });
  for (const TensorBase& other : {a, row, one}) {
    for (const int threads : {1, 3}) {
      const WithThreads with(threads);
      pointwise(Add<float>{2}, out, a, other);
      const float *x = a.data_ptr<float>(), *y = other.data_ptr<float>(), *z = out.data_ptr<float>();
      const std::int64_t period = other.numel();
      std::int64_t wrong = 0;
      for (std::int64_t i = 0; i < rows * columns; ++i) wrong += z[i] == x[i] + 2 * y[i % period] ? 0 : 1;
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("levels agree to the last bit, for every dtype") {
  Rng rng(13);
  const auto check = [&]<typename T>() {
    const Sizes sizes{1031};
    const TensorBase a = make_tensor(sizes, cpp_type_to_scalar_type<T>, DeviceType::CPU);
    const TensorBase b = make_tensor(sizes, cpp_type_to_scalar_type<T>, DeviceType::CPU);
    const TensorBase out = make_tensor(sizes, cpp_type_to_scalar_type<T>, DeviceType::CPU);
    for (const TensorBase& t : {a, b}) fill_storage<T>(t, [&] { return small_value<T>(rng, -100, 100); });
    const Add<T> functor{small_value<T>(rng, 3, 3)};
    std::vector<char> first;
    at_each_loop_level([&] {
      pointwise(functor, out, a, b);
      if (first.empty()) first = storage_bytes(out);
      CHECK((storage_bytes(out) == first));
    });
  };
  for (std::size_t i = 0; i < kNumScalarTypes; ++i) {
    const auto t = static_cast<ScalarType>(i);
    if (kAnyTypes.contains(t)) visit_any(t, "test", check);
  }
}

TEST_CASE("integer division refuses a zero divisor before it writes") {
  const TensorBase a = vector_of<std::int32_t>({7, -7, 1}), out = vector_of<std::int32_t>({1, 2, 3});
  const TensorBase zero = vector_of<std::int32_t>({2, 2, 0});
  CHECK(error_of([&] { pointwise(DivFloor<std::int32_t>{}, out, a, zero); }) ==
        "integer division by zero: a divisor is 0. Mask it out, or divide in a floating-point dtype.");
  CHECK_THROWS_AS(pointwise(DivTrunc<std::int32_t>{}, out, a, zero), Error);
  CHECK_THROWS_AS(pointwise(Remainder<std::int32_t>{}, out, a, zero), Error);
  CHECK_THROWS_AS(pointwise(Fmod<std::int32_t>{}, out, a, zero), Error);
  CHECK(out.data_ptr<std::int32_t>()[0] == 1);
  CHECK(out.data_ptr<std::int32_t>()[1] == 2);
  const TensorBase two = vector_of<std::int32_t>({2});
  pointwise(DivFloor<std::int32_t>{}, out, a, two);
  CHECK(out.data_ptr<std::int32_t>()[0] == 3);
  CHECK(out.data_ptr<std::int32_t>()[1] == -4);
  CHECK(out.data_ptr<std::int32_t>()[2] == 0);
}

TEST_CASE("a refused element is found wherever it is, and by every thread count") {
  Rng rng(17);
  for (const int threads : {1, 3}) {
    const WithThreads with(threads);
    const Sizes sizes{257, 301};
    const TensorBase a = random_input<std::int64_t>(rng, sizes), out = make_tensor(sizes, kLong, DeviceType::CPU);
    const TensorBase b = make_tensor(sizes, kLong, DeviceType::CPU);
    fill_storage<std::int64_t>(b, [] { return 3; });
    CHECK_NOTHROW(pointwise(Remainder<std::int64_t>{}, out, a, b));
    for (const std::int64_t at : {0L, 1000L, 257L * 301 - 1}) {
      b.data_ptr<std::int64_t>()[at] = 0;
      CHECK_THROWS_AS(pointwise(Remainder<std::int64_t>{}, out, a, b), Error);
      b.data_ptr<std::int64_t>()[at] = 3;
    }
  }
}

TEST_CASE("arguments become members with Scalar's conversions") {
  const Scalar alpha = 3, half = 0.5;
  CHECK(Add<std::int8_t>{argument(alpha)}.alpha == 3);
  CHECK(Add<Half>{argument(half)}.alpha == 0.5f);
  CHECK(Add<complex<Half>>{argument(half)}.alpha == complex<float>(0.5f));
  CHECK_THROWS_AS(Add<std::int8_t>{argument(Scalar(1000))}, Error);
  const std::optional<Scalar> none, two = Scalar(2);
  const Clamp<std::int32_t> clamp{argument(none), argument(two)};
  CHECK(clamp(5) == 2);
  CHECK(clamp(std::numeric_limits<std::int32_t>::min()) == std::numeric_limits<std::int32_t>::min());
}
