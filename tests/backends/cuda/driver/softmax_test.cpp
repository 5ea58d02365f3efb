// Softmax on CUDA and its gradient, of rows that threads keep in registers, of longer ones, and of columns.
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
  if (!has_device()) return;
  manual_seed(5);
  for (const ScalarType dtype : kFloatDtypes) {
    for (const std::int64_t n : {1, 2, 31, 33, 257, 2048, 2049, 5000}) {
      INFO(to_string(dtype) << ", rows of " << n);
      compare_softmax(normal_numbers({5, n}, dtype), 1);
      compare_softmax(normal_numbers({n, 37}, dtype), 0);
    }
  }
}

TEST_CASE("CUDA's softmax of infinities is the CPU's") {
  if (!has_device()) return;
  const double inf = std::numeric_limits<double>::infinity();
  for (const std::int64_t n : {7, 3000}) {
    for (const double value : {inf, -inf, std::numeric_limits<double>::quiet_NaN()}) {
      Tensor x = scattered({3, n}, -4, 4).to(kFloat);
      x.select(0, 1).fill_(value);
      x.select(1, n - 1).fill_(value);
      CHECK(is_close(softmax(on_cuda(x), 1), softmax(x, 1), 1e-5));
      CHECK(is_close(log_softmax(on_cuda(x), 1), log_softmax(x, 1), 1e-5));
    }
  }
}
