// sort and topk of CUDA on lines that need several tiles and passes, against the CPU's.
#include <keyway/tests/backends/cuda/driver/compared.h>
#include <keyway/tests/catch.h>

#include <cstring>
#include <limits>

using namespace keyway;
using namespace keyway::testing;

namespace {

void check_sort(const Tensor& x, std::int64_t dim, bool descending) {
  INFO(x.sizes()[0] << " elements or rows of " << to_string(x.dtype()) << ", dimension " << dim);
  const auto [values, indices] = sort(x.to(kCUDA, x.dtype()), true, dim, descending);
  const auto [expected_values, expected_indices] = sort(x, true, dim, descending);
  CHECK(same_bits(values, expected_values));
  CHECK(same_bits(indices, expected_indices));
}

void check_topk(const Tensor& x, std::int64_t k, std::int64_t dim, bool largest) {
  INFO(k << " of " << x.sizes()[0] << " elements or rows, dimension " << dim);
  const auto [values, indices] = topk(x.to(kCUDA, x.dtype()), k, dim, largest);
  const auto [expected_values, expected_indices] = topk(x, k, dim, largest);
  CHECK(same_bits(values, expected_values));
  CHECK(same_bits(indices, expected_indices));
}

}  // namespace

TEST_CASE("CUDA sorts lines of any length, equal keys in order") {
  if (lacks_device()) return;
  for (const std::int64_t n : {0, 1, 2, 7, 8, 9, 255, 257, 1000, 2047, 2048, 2049, 4096, 5000, 20000}) {
    for (const std::int64_t values : {1, 10, 1'000'000'000}) {
      const Tensor numbers = scattered({n}, -values / 2, values / 2);
      check_sort(numbers, 0, false);
      check_sort(numbers, 0, true);
      check_sort(numbers.to(kInt), 0, values == 10);
    }
  }
}

TEST_CASE("CUDA sorts rows and columns by themselves") {
  if (lacks_device()) return;
  for (const std::int64_t n : {3, 60, 900, 2500}) {
    const Tensor numbers = scattered({7, n}, -25, 25);
    check_sort(numbers, 1, false);
    check_sort(numbers, 0, true);
    check_sort(numbers.transpose(0, 1), 0, false);
    check_sort(numbers.to(kHalf).transpose(0, 1), 1, true);
  }
  check_sort(scattered({3, 1000, 3}, -25, 25), 1, false);
}

TEST_CASE("CUDA sorts what is not a number last, and zeros of both signs as equals") {
  if (lacks_device()) return;
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const float some[] = {0.0F, -0.0F, nan, -nan, infinity, -infinity, 1e-42F, -1e-42F, 1, -1, 3e38F, -3e38F};
  const Tensor picked = scattered({5000}, 0, 11);
  Tensor floats = empty({5000}, TensorOptions().dtype(kFloat));
  for (std::int64_t i = 0; i < 5000; ++i) floats.data_ptr<float>()[i] = some[picked.data_ptr<std::int64_t>()[i]];
  for (const bool descending : {false, true}) {
    for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16}) check_sort(floats.to(dtype), 0, descending);
    for (const std::int64_t k : {1, 500, 3000, 5000}) check_topk(floats, k, 0, descending);
  }
}

TEST_CASE("CUDA sorts the extremes of integers") {
  if (lacks_device()) return;
  const auto check = [](auto low, auto high, ScalarType dtype) {
    using T = decltype(low);
    Tensor x = empty({6}, TensorOptions().dtype(dtype));
    const T numbers[] = {high, low, 0, static_cast<T>(low + 1), static_cast<T>(high - 1), 1};
    std::memcpy(x.data_ptr(), numbers, sizeof numbers);
    check_sort(x, 0, false);
    check_sort(x, 0, true);
  };
  const auto check_all = [&]<typename T>(T, ScalarType dtype) {
    check(std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), dtype);
  };
  check_all(std::int64_t{}, kLong);
  check_all(std::int32_t{}, kInt);
  check_all(std::int16_t{}, kShort);
  check_all(std::int8_t{}, kChar);
  check_all(std::uint8_t{}, kByte);
  check_all(std::uint16_t{}, kUInt16);
  check_all(std::uint32_t{}, kUInt32);
  check_all(std::uint64_t{}, kUInt64);
  check_sort(scattered({3000}, 0, 1).to(kBool), 0, true);
}

TEST_CASE("CUDA sorts unsigned integers on both sides of half their range") {
  if (lacks_device()) return;
  const Tensor numbers = scattered({5000}, -100, 100);  // the negative ones wrap to the upper half
  for (const ScalarType dtype : {kByte, kUInt16, kUInt32, kUInt64}) {
    for (const bool most : {false, true}) {
      check_sort(numbers.to(dtype), 0, most);
      check_topk(numbers.to(dtype), 60, 0, most);
    }
  }
}

TEST_CASE("topk of CUDA gives the first of the sorted order") {
  if (lacks_device()) return;
  for (const std::int64_t n : {1, 10, 2048, 3000, 20000}) {
    const Tensor numbers = scattered({n}, 0, 99);
    for (const std::int64_t k : {0, 1, 7, 2048, 2049, 9000, 20000}) {
      if (k > n) continue;
      check_topk(numbers, k, 0, true);
      check_topk(numbers, k, 0, false);
    }
  }
  const Tensor rows = scattered({3, 5000}, 0, 99);
  check_topk(rows, 40, 1, true);
  check_topk(rows, 2, 0, false);
  check_topk(rows.transpose(0, 1), 40, 0, true);
}
