// Softmax on CUDA and its gradient, of rows of which threads keep few or many elements in registers, of longer ones,
// and of columns.
#include <keyway/tests/backends/cuda/driver/compared.h>
#include <keyway/tests/catch.h>

#include <limits>

using namespace keyway;
using namespace keyway::testing;

namespace {

void compare_softmax(const Tensor& x, std::int64_t dim) {
  const double tolerance = tolerance_of(x.dtype());
  const Tensor grad = normal_numbers(x.sizes(), x.dtype());
  const Tensor y = softmax(x, dim), log_y = log_softmax(x, dim);
  CHECK(is_close(softmax(on_cuda(x), dim), y, tolerance));
  CHECK(is_close(log_softmax(on_cuda(x), dim), log_y, tolerance));
  CHECK(is_close(_softmax_backward_data(on_cuda(grad), on_cuda(y), dim, x.dtype()),
                 _softmax_backward_data(grad, y, dim, x.dtype()), tolerance));
  // Its sum grows with the length of a row.
  CHECK(is_close(_log_softmax_backward_data(on_cuda(grad), on_cuda(log_y), dim, x.dtype()),
                 _log_softmax_backward_data(grad, log_y, dim, x.dtype()), 10 * tolerance));
}

}  // namespace

TEST_CASE("CUDA's softmax is the CPU's, of short rows and of long ones, and along any dimension") {
  if (lacks_device()) return;
  manual_seed(5);
  for (const ScalarType dtype : kFloatDtypes) {
    for (const std::int64_t n : {1, 2, 31, 33, 257, 2048, 2049, 8192, 8193}) {
      INFO(to_string(dtype) << ", rows of " << n);
      compare_softmax(normal_numbers({5, n}, dtype), 1);
      compare_softmax(normal_numbers({n, 37}, dtype), 0);
    }
  }
}

TEST_CASE("CUDA's softmax has the same bits wherever its memory begins") {
  if (lacks_device()) return;
  manual_seed(6);
  for (const ScalarType dtype : kFloatDtypes) {
    for (const std::int64_t n : {40, 1024, 4096, 12'000}) {
      INFO(to_string(dtype) << ", rows of " << n);
      const Tensor x = on_cuda(normal_numbers({3, n}, dtype)), y = softmax(x, 1).to(kCPU, dtype);
      CHECK(same_bits(softmax(behind(x, 1, 0), 1), y));
      CHECK(same_bits(softmax(behind(x, 8, 5), 1), y));
    }
  }
}

TEST_CASE("CUDA's softmax of many rows is the CPU's") {
  if (!is_fast()) return;
  manual_seed(7);
  for (const ScalarType dtype : kFloatDtypes) {
    for (const std::int64_t n : {96, 97, 1024, 2048}) {
      INFO(to_string(dtype) << ", rows of " << n);
      const std::int64_t rows = 8200 + (std::int64_t{1} << 23) / n;
      const auto some = [&](const Tensor& all) { return all.slice(0, 3, rows, 501).to(kCPU, dtype); };
      const Tensor x = rand({rows, n}, TensorOptions().device(kCUDA)).to(dtype), y = softmax(x, 1);
      CHECK(is_close(some(y), softmax(some(x), 1), tolerance_of(dtype)));
      CHECK(is_close(some(_softmax_backward_data(x, y, 1, dtype)), _softmax_backward_data(some(x), some(y), 1, dtype),
                     tolerance_of(dtype)));
    }
  }
}

TEST_CASE("CUDA's softmax of infinities is the CPU's") {
  if (lacks_device()) return;
  const double inf = std::numeric_limits<double>::infinity();
  for (const std::int64_t n : {7, 3000, 9001}) {
    for (const double value : {inf, -inf, std::numeric_limits<double>::quiet_NaN()}) {
      Tensor x = scattered({3, n}, -4, 4).to(kFloat);
      x.select(0, 1).fill_(value);
      x.select(1, n - 1).fill_(value);
      CHECK(is_close(softmax(on_cuda(x), 1), softmax(x, 1), 1e-5));
      CHECK(is_close(log_softmax(on_cuda(x), 1), log_softmax(x, 1), 1e-5));
    }
  }
}

// Long rows are gone through once for the greatest and the sum, which begins anew with each greater element.
TEST_CASE("CUDA's softmax of long rows does not depend on where the greatest are") {
  if (lacks_device()) return;
  const double inf = std::numeric_limits<double>::infinity();
  const std::int64_t n = 9001;
  Tensor x = zeros({9, n}, TensorOptions().dtype(kFloat));
  const Tensor ascending = arange(n).to(kFloat).mul(0.01);
  x.select(0, 0).copy_(ascending);
  x.select(0, 1).copy_(ascending.flip({0}));
  x.select(0, 2).copy_(ascending.mul(3e-5));
  x.select(0, 3).slice(0, 0, n - 1).fill_(-inf);
  x.select(0, 4).slice(0, 1, n).fill_(-inf);
  x.select(0, 5).fill_(-inf);
  x.select(0, 6).select(0, n / 2).fill_(inf);
  x.select(0, 7).fill_(std::numeric_limits<float>::lowest());
  x.select(0, 8).copy_(ascending.sub(45).mul(7e36));
  for (const Tensor& rows : {x, x.to(kBFloat16), x.to(kDouble)}) {
    const double tolerance = tolerance_of(rows.dtype());
    CHECK(is_close(softmax(on_cuda(rows), 1), softmax(rows, 1), tolerance));
    CHECK(is_close(log_softmax(on_cuda(rows), 1), log_softmax(rows, 1), tolerance));
    const Tensor columns = rows.t();
    CHECK(is_close(softmax(on_cuda(columns), 0), softmax(columns, 0), tolerance));
  }
}
