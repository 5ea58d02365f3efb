#include <keyway/backends/cpu/copy.h>
#include <keyway/backends/cpu/copy_tile.h>
#include <keyway/ops/functors/copy.h>
#include <keyway/tests/backends/cpu/random_tensor.h>
#include <keyway/tests/backends/cpu/settings.h>
#include <keyway/tests/catch.h>

#include <cstring>

using namespace keyway;
using namespace keyway::testing;

namespace {

// Any bits, but for bool, which has two values.
void fill_random_bits(Rng& rng, const TensorBase& tensor) {
  char* data = static_cast<char*>(tensor.storage().data());
  for (std::size_t i = 0; i < tensor.storage().nbytes(); ++i) {
    data[i] = static_cast<char>(tensor.dtype() == kBool ? rng() & 1 : rng());
  }
}

template <typename F>
void each_dtype(F f) {
  for (std::size_t i = 0; i < kNumScalarTypes; ++i) {
    const auto t = static_cast<ScalarType>(i);
    if (kCastTypes.contains(t)) visit_dtype<kCastTypes>(t, "test", f);
  }
}

template <typename T>
bool same_value(T a, T b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0 || (is_nan(opmath(a)) && is_nan(opmath(b)));
}

// Whether an element of dtype To is one of From, converted.
using IsConverted = bool (*)(const void* to, const void* from);
template <typename To, typename From>
bool is_converted(const void* to, const void* from) {
  return same_value(*static_cast<const To*>(to), Cast<To, From>{}(*static_cast<const From*>(from)));
}

void check_conversion(Rng& rng, ScalarType to, ScalarType from, IsConverted converted) {
  for (int i = 0; i < 3; ++i) {
    const Sizes sizes = random_sizes(rng, random_int(rng, 0, 4), 500);
    const TensorBase src = random_geometry(rng, sizes, from, Expand::Yes);
    const TensorBase dst = random_geometry(rng, sizes, to);
    fill_random_bits(rng, src);
    copy_elements(src, dst);
    bool right = true;
    each_index(sizes,
               [&](const Sizes& index) { right = right && converted(element_at(dst, index), element_at(src, index)); });
    INFO("from " << to_string(from) << " to " << to_string(to));
    REQUIRE(right);
  }
}

}  // namespace

TEST_CASE("copy converts between any two dtypes, in any geometry") {
  Rng rng(41);
  each_dtype([&]<typename To>() {
    each_dtype([&]<typename From>() {
      check_conversion(rng, cpp_type_to_scalar_type<To>, cpp_type_to_scalar_type<From>, is_converted<To, From>);
    });
  });
}

TEST_CASE("equal dtypes are copied bit by bit, also those without arithmetic") {
  Rng rng(43);
  for (const ScalarType t : {kQInt8, kQInt32, kFloat8_e5m2, ScalarType::Bits16, kComplexHalf, kComplexDouble}) {
    for (int i = 0; i < 10; ++i) {
      const Sizes sizes = random_sizes(rng, random_int(rng, 0, 4), 2000);
      const TensorBase src = random_geometry(rng, sizes, t, Expand::Yes);
      const TensorBase dst = random_geometry(rng, sizes, t);
      fill_random_bits(rng, src);
      copy_elements(src, dst);
      each_index(sizes, [&](const Sizes& index) {
        REQUIRE(std::memcmp(element_at(src, index), element_at(dst, index), element_size(t)) == 0);
      });
    }
  }
}

TEST_CASE("large transposes are copied exactly, by several threads") {
  for (const int threads : {1, 3}) {
    const WithThreads with(threads);
    const TensorBase base = make_tensor(Sizes{3, 333, 517}, kFloat, DeviceType::CPU);
    for (std::int64_t i = 0; i < base.numel(); ++i) base.data_ptr<float>()[i] = static_cast<float>(i);
    const TensorBase src = make_view(base, Sizes{3, 517, 333}, Sizes{333 * 517, 1, 517}, 0);
    const TensorBase dst = make_tensor(Sizes{3, 517, 333}, kFloat, DeviceType::CPU);
    copy_elements(src, dst);
    bool right = true;
    each_index(Sizes{3, 517, 333},
               [&](const Sizes& index) { right = right && element<float>(dst, index) == element<float>(src, index); });
    CHECK(right);
  }
}

TEST_CASE("a copy too large for the caches is exact, from any offset") {
  const std::int64_t n = stream_threshold() + 1234567;
  const TensorBase from = make_tensor(Sizes{n + 3}, kByte, DeviceType::CPU);
  const TensorBase to = make_tensor(Sizes{n + 5}, kByte, DeviceType::CPU);
  auto* const x = from.data_ptr<std::uint8_t>();
  auto* const y = to.data_ptr<std::uint8_t>();
  for (std::int64_t i = 0; i < n + 3; ++i) x[i] = static_cast<std::uint8_t>(i * 31 + i / 251);
  std::memset(y, 7, static_cast<std::size_t>(n + 5));
  for (const int threads : {1, 3}) {
    const WithThreads with(threads);
    copy_elements(make_view(from, Sizes{n}, Sizes{1}, 3), make_view(to, Sizes{n}, Sizes{1}, 2));
    CHECK(std::memcmp(y + 2, x + 3, static_cast<std::size_t>(n)) == 0);
    CHECK((y[1] == 7 && y[n + 2] == 7));
  }
}

TEST_CASE("rectangles of every item size are moved and transposed") {
  Rng rng(61);
  for (const std::int64_t item : {1, 2, 4, 8, 16}) {
    for (int i = 0; i < 60; ++i) {
      const std::int64_t rows = random_int(rng, 1, 70), columns = random_int(rng, 1, 70);
      std::vector<char> from(static_cast<std::size_t>(rows * columns * item)), to(from.size());
      for (char& c : from) c = static_cast<char>(rng());
      const bool across = random_int(rng, 0, 1) == 1, to_across = random_int(rng, 0, 1) == 1;
      const auto row = [&](bool other_way) { return other_way ? item : columns * item; };
      const auto column = [&](bool other_way) { return other_way ? rows * item : item; };
      copy_tile({to.data(), row(to_across), column(to_across)}, {from.data(), row(across), column(across)}, rows,
                columns, item);
      for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t c = 0; c < columns; ++c) {
          REQUIRE(std::memcmp(to.data() + r * row(to_across) + c * column(to_across),
                              from.data() + r * row(across) + c * column(across), static_cast<std::size_t>(item)) == 0);
        }
      }
    }
  }
}
