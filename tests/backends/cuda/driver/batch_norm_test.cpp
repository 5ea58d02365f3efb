// Batch normalisation on CUDA, over what the samples of the operators do not reach: channels longer than a team,
// channels side by side, strides, parameters of float32, and none at all.
#include <keyway/tests/backends/cuda/driver/compared.h>
#include <keyway/tests/catch.h>

#include <array>
#include <vector>

using namespace keyway;
using namespace keyway::testing;

namespace {

const std::vector<std::vector<std::int64_t>> kSizes{{1, 1, 5000}, {3, 2, 3001}, {40, 33},  {5, 7, 3, 4},
                                                    {300, 3, 5},  {0, 4, 2},    {3, 0, 2}, {2, 4, 0}};

void compare(const Tensor& x, const Tensor& grad, const Tensor& weight, const Tensor& bias) {
  const double tolerance = tolerance_of(x.dtype());
  const auto [out, mean, var] = _batch_norm_forward(x, weight, bias, 1e-3);
  const auto [out_there, mean_there, var_there] = _batch_norm_forward(on_cuda(x), on_cuda(weight), on_cuda(bias), 1e-3);
  CHECK(is_close(out_there, out, tolerance));
  CHECK(is_close(mean_there, mean, 1e-5));
  CHECK(is_close(var_there, var, 1e-5));
  for (const std::array<bool, 3>& mask : {std::array{true, true, true}, {true, false, false}, {false, false, true}}) {
    const auto here = _batch_norm_backward(grad, x, mean, var, weight, 1e-3, mask);
    const auto there =
        _batch_norm_backward(on_cuda(grad), on_cuda(x), on_cuda(mean), on_cuda(var), on_cuda(weight), 1e-3, mask);
    CHECK(is_close(std::get<0>(there), std::get<0>(here), tolerance));
    CHECK(is_close(std::get<1>(there), std::get<1>(here), 1e-4));
    CHECK(is_close(std::get<2>(there), std::get<2>(here), 1e-4));
  }
}

}  // namespace

TEST_CASE("CUDA's batch normalisation is the CPU's, of few elements of a channel and of many") {
  if (!has_device()) return;
  manual_seed(1);
  for (const ScalarType dtype : kFloatDtypes) {
    for (const std::vector<std::int64_t>& sizes : kSizes) {
      const Tensor x = normal_numbers(sizes, dtype), grad = normal_numbers(sizes, dtype);
      INFO(to_string(dtype) << ", " << sizes.size() << " dimensions, " << x.numel() << " elements");
      const Tensor weight = normal_numbers({sizes[1]}, dtype), bias = normal_numbers({sizes[1]}, kFloat);
      compare(x, grad, weight, bias);
      compare(x.transpose(0, -1).contiguous().transpose(0, -1), grad, Tensor(), bias);
      compare(x, grad, bias, Tensor());
    }
  }
}
