// Convolutions on a device, larger than samples are, compared with the CPU's.
#include <keyway/core/device_guard.h>
#include <keyway/keyway.h>
#include <keyway/tests/backends/cuda/driver/compared.h>
#include <keyway/tests/catch.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <tuple>

using namespace keyway;
using namespace keyway::testing;

namespace {

// Small integers, exact in every dtype.
Tensor operand(IntArrayRef sizes, ScalarType dtype, std::int64_t seed) {
  return testing::scattered(sizes, -2, 2, seed).to(kCPU, dtype);
}

struct Problem {
  std::vector<std::int64_t> input, weight, stride, padding, dilation;
  bool transposed;
  std::int64_t groups;
};

const Problem kProblems[] = {
    {{3, 4, 30}, {6, 2, 5}, {2}, {3}, {2}, false, 2},
    {{2, 6, 13, 11}, {4, 3, 3, 2}, {2, 1}, {1, 2}, {1, 3}, false, 2},
    {{2, 3, 12, 12}, {5, 3, 3, 3}, {1, 1}, {1, 1}, {1, 1}, false, 1},
    {{2, 8, 9, 9}, {8, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}, false, 8},
    {{2, 2, 5, 6, 7}, {3, 2, 2, 3, 2}, {1, 2, 2}, {1, 0, 1}, {2, 1, 1}, false, 1},
    {{3, 4, 9}, {4, 3, 5}, {2}, {1}, {2}, true, 2},
    {{2, 6, 5, 7}, {6, 2, 3, 2}, {2, 3}, {1, 0}, {1, 2}, true, 3},
    {{1, 2, 3, 4, 3}, {2, 3, 2, 3, 2}, {1, 2, 2}, {1, 0, 1}, {1, 1, 1}, true, 1},
};

void compare(const Problem& p, ScalarType dtype, bool last) {
  Tensor input = operand(p.input, dtype, 1);
  if (last && input.dim() == 4) input = input.transpose(1, 3).contiguous().transpose(1, 3);
  const Tensor weight = operand(p.weight, dtype, 2);
  const std::int64_t channels = p.transposed ? p.weight[1] * p.groups : p.weight[0];
  const Tensor bias = operand({channels}, dtype, 3);
  const std::vector<std::int64_t> no_more(p.stride.size(), 0);
  const auto run = [&](const Tensor& x, const Tensor& w, const Tensor& b) {
    return convolution(x, w, b, p.stride, p.padding, p.dilation, p.transposed, no_more, p.groups);
  };
  const Tensor out = run(input, weight, bias);
  CHECK(same_values(run(on_cuda(input), on_cuda(weight), on_cuda(bias)), out));
  CHECK(same_values(run(on_cuda(input), on_cuda(weight), {}), run(input, weight, {})));

  const Tensor grad = operand(out.sizes(), dtype, 4);
  const auto backward = [&](const Tensor& dy, const Tensor& x, const Tensor& w) {
    const std::array<bool, 3> all{true, true, true};
    return convolution_backward(dy, x, w, IntArrayRef({channels}), p.stride, p.padding, p.dilation, p.transposed,
                                no_more, p.groups, all);
  };
  const auto [x, w, b] = backward(grad, input, weight);
  const auto [x_there, w_there, b_there] = backward(on_cuda(grad), on_cuda(input), on_cuda(weight));
  CHECK(same_values(x_there, x));
  CHECK(same_values(w_there, w));
  CHECK(same_values(b_there, b));
}

}  // namespace

TEST_CASE("convolutions and their gradients, in one to three dimensions, groups, transposes") {
  if (!has_products()) return;
  for (std::size_t i = 0; i < std::size(kProblems); ++i) {
    for (const ScalarType dtype : {kFloat, kHalf, kComplexFloat}) {
      INFO("problem " << i << " in " << to_string(dtype));
      compare(kProblems[i], dtype, false);
      compare(kProblems[i], dtype, true);
    }
  }
  for (const ScalarType dtype : {kDouble, kBFloat16, kComplexHalf, kComplexDouble}) {
    INFO(to_string(dtype));
    compare(kProblems[1], dtype, false);
  }
}

TEST_CASE("a convolution whose windows take several chunks, which divide images") {
  if (!has_products()) return;
  // 5 channels by 225 taps: chunks of 3712 places in complex128, and images of 2500.
  const Tensor input = operand({3, 5, 50, 50}, kComplexDouble, 1), weight = operand({2, 5, 15, 15}, kComplexDouble, 2);
  const std::vector<std::int64_t> stride{1, 1}, padding{7, 7}, none{0, 0};
  const auto run = [&](const Tensor& x, const Tensor& w) {
    return convolution(x, w, {}, stride, padding, stride, false, none, 1);
  };
  const Tensor out = run(input, weight);
  CHECK(same_values(run(on_cuda(input), on_cuda(weight)), out));
  const Tensor grad = operand(out.sizes(), kComplexDouble, 3);
  const auto backward = [&](const Tensor& dy, const Tensor& x, const Tensor& w) {
    const std::array<bool, 3> two{true, true, false};
    return convolution_backward(dy, x, w, std::nullopt, stride, padding, stride, false, none, 1, two);
  };
  const auto [x, w, b] = backward(grad, input, weight);
  const auto [x_there, w_there, b_there] = backward(on_cuda(grad), on_cuda(input), on_cuda(weight));
  CHECK(same_values(x_there, x));
  CHECK(same_values(w_there, w));
}

TEST_CASE("convolutions of nothing are zeros, or the bias") {
  if (!has_products()) return;
  const TensorOptions there = TensorOptions().dtype(kFloat).device(kCUDA);
  const std::vector<std::int64_t> one{1}, none{0};
  const Tensor bias = operand({2}, kFloat, 1);
  const Tensor out =
      convolution(zeros({3, 0, 5}, there), zeros({2, 0, 2}, there), on_cuda(bias), one, none, one, false, none, 1);
  CHECK(same_values(out, bias.view({1, 2, 1}).expand({3, 2, 4})));
  CHECK(convolution(zeros({0, 1, 5}, there), zeros({2, 1, 2}, there), {}, one, none, one, false, none, 1).numel() == 0);
  const std::array<bool, 3> all{true, true, true};
  const auto [x, w, b] =
      convolution_backward(zeros({0, 2, 4}, there), zeros({0, 1, 5}, there), full({2, 1, 2}, 1, there),
                           IntArrayRef({2}), one, none, one, false, none, 1, all);
  CHECK(x.numel() == 0);
  CHECK(same_values(w, zeros({2, 1, 2}, kFloat)));
  CHECK(same_values(b, zeros({2}, kFloat)));
}
