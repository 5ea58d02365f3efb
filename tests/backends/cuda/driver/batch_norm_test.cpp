// Batch normalisation on CUDA, over what the samples of the operators do not reach: channels longer than a team,
// channels side by side, strides, parameters of float32, and none at all.
#include <keyway/tests/backends/cuda/driver/compared.h>
#include <keyway/tests/catch.h>

#include <array>
#include <vector>

using namespace keyway;
using namespace keyway::testing;

namespace {

const std::vector<std::vector<std::int64_t>> kSizes{
    {1, 1, 5000}, {3, 2, 3001}, {40, 33},     {5, 7, 3, 4},    {300, 3, 5}, {0, 4, 2}, {3, 0, 2},
    {2, 4, 0},    {700, 33},    {2, 3, 9001}, {3, 40, 11, 17}, {9000, 1},   {900, 3},  {5, 1, 7, 9}};

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
  if (lacks_device()) return;
  manual_seed(1);
  for (const ScalarType dtype : kFloatDtypes) {
    for (const std::vector<std::int64_t>& sizes : kSizes) {
      const Tensor x = normal_numbers(sizes, dtype), grad = normal_numbers(sizes, dtype);
      INFO(to_string(dtype) << ", " << sizes.size() << " dimensions, " << x.numel() << " elements");
      const Tensor weight = normal_numbers({sizes[1]}, dtype), bias = normal_numbers({sizes[1]}, kFloat);
      compare(x, grad, weight, bias);
      compare(x.transpose(0, -1).contiguous().transpose(0, -1), grad, Tensor(), bias);
      compare(x, grad, bias, Tensor());
      if (x.dim() != 4) continue;
      const auto last = [](const Tensor& batch) { return batch.contiguous(MemoryFormat::ChannelsLast); };
      compare(last(x), last(grad), weight, bias);
      compare(last(x), grad, weight, bias);
    }
  }
}

TEST_CASE("CUDA's batch normalisation keeps its digits far from zero and beside an element that is") {
  if (lacks_device()) return;
  manual_seed(2);
  const std::int64_t length = GENERATE(1000, 5000, 40000, 1'000'000);
  Tensor x = normal_numbers({1, 2, length}, kFloat).add(5000);
  x.select(1, 1).sub_(5000).select(1, 0).fill_(3000);
  const auto [out, mean, var] = _batch_norm_forward(x.to(kDouble), Tensor(), Tensor(), 0);
  const auto [out_there, mean_there, var_there] = _batch_norm_forward(on_cuda(x), Tensor(), Tensor(), 0);
  CHECK(is_close(mean_there.to(kDouble), mean, 1e-6));
  CHECK(is_close(var_there.to(kDouble), var, 2e-5));
  CHECK(is_close(out_there.to(kDouble), out, 1e-3));
}
