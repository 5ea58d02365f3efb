// Running sums, products and extremes of CUDA over rows of several tiles and of several teams, against the CPU's.
#include <keyway/tests/backends/cuda/driver/compared.h>
#include <keyway/tests/catch.h>

#include <limits>
#include <tuple>

using namespace keyway;
using namespace keyway::testing;

namespace {

// Sums of whole numbers are the same in any order, and so are products of odd ones that wrap.
void check_amounts(const Tensor& x, std::int64_t dim) {
  INFO(x.numel() << " elements of " << to_string(x.dtype()) << ", dimension " << dim);
  CHECK(same_values(cumsum(x.to(kCUDA, x.dtype()), dim), cumsum(x, dim)));
  const Tensor odd = x.to(kLong) * 2 + 1;
  CHECK(same_values(cumprod(odd.to(kCUDA, kLong), dim), cumprod(odd, dim)));
}

void check_extremes(const Tensor& x, std::int64_t dim) {
  INFO(x.numel() << " elements of " << to_string(x.dtype()) << ", dimension " << dim);
  const auto check = [](const std::tuple<Tensor, Tensor>& got, const std::tuple<Tensor, Tensor>& expected) {
    CHECK(same_values(std::get<0>(got), std::get<0>(expected)));
    CHECK(same_values(std::get<1>(got), std::get<1>(expected)));
  };
  check(cummax(x.to(kCUDA, x.dtype()), dim), cummax(x, dim));
  check(cummin(x.to(kCUDA, x.dtype()), dim), cummin(x, dim));
}

void check_all(const Tensor& x, std::int64_t dim) {
  check_amounts(x, dim);
  check_extremes(x, dim);
}

}  // namespace

TEST_CASE("CUDA scans rows of one tile and of several") {
  if (lacks_device()) return;
  for (const std::int64_t n : {1, 2, 5, 6, 159, 161, 1279, 1280, 1281, 4000}) {
    check_all(scattered({3, n}, -100, 100), 1);
    check_all(scattered({n, 3}, -100, 100).to(kFloat), 0);
    check_all(scattered({2, n, 5}, -100, 100).transpose(0, 1), 0);
  }
}

TEST_CASE("CUDA shares long rows out among teams, and columns too") {
  if (lacks_device()) return;
  for (const std::int64_t n : {16383, 16384, 30'011}) check_all(scattered({n}, -1000, 1000), 0);
  check_all(scattered({3, 20'000}, -1000, 1000).to(kFloat), 1);
  check_all(scattered({9000, 2}, -1000, 1000).to(kInt), 0);
  check_all(scattered({2, 9001}, -1000, 1000).transpose(0, 1), 0);
  Tensor there = scattered({20'000}, -9, 9).to(kCUDA, kLong);
  const Tensor expected = cumsum(there.to(kCPU, kLong), 0);
  there.cumsum_(0);
  CHECK(same_values(there, expected));
}

TEST_CASE("CUDA finds the last of equal extremes, and NaN from the first one on, in any stretch") {
  if (lacks_device()) return;
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  for (const std::int64_t n : {1000, 20'000}) {
    check_extremes(scattered({n}, -2, 2), 0);
    check_extremes(full({n}, -infinity, TensorOptions().dtype(kFloat)), 0);
    check_extremes(full({n}, infinity, TensorOptions().dtype(kFloat)), 0);
    Tensor some = scattered({n}, -50, 50).to(kFloat);
    some.data_ptr<float>()[n / 2] = nan;
    some.data_ptr<float>()[n / 2 + 300] = nan;
    check_extremes(some, 0);
    CHECK(same_values(cumsum(some.to(kCUDA, kFloat), 0), cumsum(some, 0)));
  }
}

TEST_CASE("CUDA's running sums of floats are kept in double") {
  if (lacks_device()) return;
  const Tensor x = full({20'000}, 0.1, TensorOptions().dtype(kFloat));
  const Tensor got = cumsum(x.to(kCUDA, kFloat), 0).to(kCPU, kFloat), expected = cumsum(x, 0);
  CHECK((got - expected).abs().amax({0}).item().to<double>() < 1e-3);
  const Tensor half = full({3000}, 0.1, TensorOptions().dtype(kHalf));
  CHECK(same_values(cumsum(half.to(kCUDA, kHalf), 0), cumsum(half, 0)));
}
