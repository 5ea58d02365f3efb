// native_layer_norm and its gradient on CUDA, over what the samples of the operators do not reach: many blocks, rows
// longer than a team, chunks that are not full, strides, and no rows at all.
#include <keyway/tests/backends/cuda/driver/compared.h>
#include <keyway/tests/catch.h>

#include <array>

using namespace keyway;
using namespace keyway::testing;

namespace {

struct Shape {
  std::int64_t rows, width;
};
constexpr Shape kShapes[] = {{1, 1},    {1, 5000}, {2, 9001},   {3, 257}, {33, 40}, {1000, 3},
                             {70, 300}, {3, 4096}, {2, 12'000}, {0, 8},   {4, 0}};

// The same columns, not side by side.
Tensor strided(const Tensor& x) { return x.transpose(0, 1).contiguous().transpose(0, 1); }

void compare(const Tensor& x, const Tensor& grad, const Tensor& weight, const Tensor& bias) {
  const std::int64_t width = x.sizes()[1];
  const double tolerance = tolerance_of(x.dtype());
  const auto [out, mean, rstd] = native_layer_norm(x, {width}, weight, bias, 1e-3);
  const auto [out_there, mean_there, rstd_there] =
      native_layer_norm(on_cuda(x), {width}, on_cuda(weight), on_cuda(bias), 1e-3);
  CHECK(is_close(out_there, out, tolerance));
  CHECK(is_close(mean_there, mean, 1e-5));
  CHECK(is_close(rstd_there, rstd, 1e-5));
  for (const std::array<bool, 3>& mask : {std::array{true, true, true}, {true, false, false}, {false, false, true}}) {
    const auto here = native_layer_norm_backward(grad, x, {width}, mean, rstd, weight, bias, mask);
    const auto there = native_layer_norm_backward(on_cuda(grad), on_cuda(x), {width}, on_cuda(mean), on_cuda(rstd),
                                                  on_cuda(weight), on_cuda(bias), mask);
    CHECK(is_close(std::get<0>(there), std::get<0>(here), tolerance));
    CHECK(is_close(std::get<1>(there), std::get<1>(here), 10 * tolerance));
    CHECK(is_close(std::get<2>(there), std::get<2>(here), 10 * tolerance));
  }
}

}  // namespace

TEST_CASE("CUDA's layer normalisation is the CPU's, of many rows and of long ones") {
  if (lacks_device()) return;
  manual_seed(1);
  for (const ScalarType dtype : kFloatDtypes) {
    for (const auto& [rows, width] : kShapes) {
      INFO(to_string(dtype) << " [" << rows << ", " << width << "]");
      const Tensor x = normal_numbers({rows, width}, dtype), grad = normal_numbers({rows, width}, dtype);
      const Tensor weight = normal_numbers({width}, kFloat).to(kCPU, dtype), bias = normal_numbers({width}, dtype);
      compare(x, grad, weight, bias);
      compare(strided(x), strided(grad), Tensor(), bias);
      compare(x, grad, normal_numbers({width}, kFloat), bias);
      compare(x, grad, normal_numbers({width}, kFloat), normal_numbers({width}, kFloat));
    }
  }
}

TEST_CASE("CUDA's layer normalisation of very many rows is the CPU's") {
  if (!is_fast()) return;
  manual_seed(3);
  for (const ScalarType dtype : kFloatDtypes) {
    for (const std::int64_t n : {97, 1024}) {
      INFO(to_string(dtype) << ", rows of " << n);
      const std::int64_t rows = 8200 + (std::int64_t{1} << 23) / n;
      const auto some = [&](const Tensor& all) { return all.slice(0, 3, rows, 501).to(kCPU, all.dtype()); };
      const Tensor x = rand({rows, n}, TensorOptions().device(kCUDA)).to(dtype), weight = x.select(0, 1).clone();
      const Tensor bias = x.select(0, 2).clone(), w = weight.to(kCPU, dtype), b = bias.to(kCPU, dtype);
      const auto [out, mean, rstd] = native_layer_norm(x, {n}, weight, bias, 1e-3);
      CHECK(is_close(some(out), std::get<0>(native_layer_norm(some(x), {n}, w, b, 1e-3)), tolerance_of(dtype)));
      const std::array mask{true, false, false};
      const Tensor grad = std::get<0>(native_layer_norm_backward(out, x, {n}, mean, rstd, weight, bias, mask));
      CHECK(
          is_close(some(grad),
                   std::get<0>(native_layer_norm_backward(some(out), some(x), {n}, some(mean), some(rstd), w, b, mask)),
                   tolerance_of(dtype)));
    }
  }
}

TEST_CASE("CUDA's layer normalisation has the same bits wherever its memory begins") {
  if (lacks_device()) return;
  manual_seed(4);
  for (const ScalarType dtype : kFloatDtypes) {
    for (const std::int64_t n : {40, 1024, 4096}) {
      INFO(to_string(dtype) << ", rows of " << n);
      const Tensor x = on_cuda(normal_numbers({3, n}, dtype)), weight = on_cuda(normal_numbers({n}, dtype));
      const Tensor y = layer_norm(x, {n}, weight).to(kCPU, dtype);
      CHECK(same_bits(layer_norm(behind(x, 1, 0), {n}, weight), y));
      CHECK(same_bits(layer_norm(x, {n}, behind(weight, 3, 0)), y));
    }
  }
}

TEST_CASE("the same layer normalisation gives the same bits on CUDA each time") {
  if (lacks_device()) return;
  manual_seed(2);
  const Tensor x = on_cuda(normal_numbers({500, 100}, kFloat)), grad = on_cuda(normal_numbers({500, 100}, kFloat));
  const auto [out, mean, rstd] = native_layer_norm(x, {100}, {}, {}, 0);
  const std::array mask{true, true, true};
  const Tensor first = std::get<1>(native_layer_norm_backward(grad, x, {100}, mean, rstd, {}, {}, mask));
  const Tensor second = std::get<1>(native_layer_norm_backward(grad, x, {100}, mean, rstd, {}, {}, mask));
  CHECK(same_bits(first, second.to(kCPU, kFloat)));
}
