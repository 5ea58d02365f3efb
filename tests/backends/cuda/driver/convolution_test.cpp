// Convolutions on a device, larger than samples are, compared with the CPU's.
#include <keyway/core/device/cuda_graph.h>
#include <keyway/core/device/device_guard.h>
#include <keyway/core/device/stream_guard.h>
#include <keyway/keyway.h>
#include <keyway/tests/backends/cuda/driver/compared.h>
#include <keyway/tests/backends/cuda/driver/emulated_calls.h>
#include <keyway/tests/catch.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <string>
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
  // 5 channels by 225 taps: chunks of 3712 positions in complex128, and images of 2500.
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

namespace {

constexpr const char* kForward = "cudnnConvolutionForward";
constexpr const char* kData = "cudnnConvolutionBackwardData";
constexpr const char* kWeights = "cudnnConvolutionBackwardFilter";
constexpr const char* kChoice = "cudnnGetConvolutionAlgorithm";

// What the emulated cuDNN is to be like; empty: as it is.
std::string cudnn_state() {
  const char* const wish = std::getenv("KEYWAY_EMULATED_CUDNN");
  return wish == nullptr ? "" : wish;
}
bool has_cudnn() {
  const char* const wanted = std::getenv("KEYWAY_CUDA_CUDNN");
  return !lacks_device() && cudnn_state().empty() && (wanted == nullptr || std::string_view(wanted) != "0");
}

Tensor conv(const Tensor& x, const Tensor& w, const Tensor& bias = {}, bool transposed = false,
            std::int64_t output_padding = 0, std::int64_t stride = 1, std::int64_t dilation = 1) {
  return convolution(x, w, bias, {stride}, {1}, {dilation}, transposed, {output_padding}, 1);
}

}  // namespace

TEST_CASE("cuDNN computes convolutions and both gradients, each in one call, and is asked once for each problem") {
  if (!has_cudnn()) return;
  for (const ScalarType dtype : {kHalf, kBFloat16, kFloat, kDouble}) {
    INFO(to_string(dtype));
    const Tensor x = operand({2, 3, 7, 9}, dtype, 1), w = operand({4, 3, 3, 3}, dtype, 2), b = operand({4}, dtype, 3);
    const Tensor out = conv(x, w, b), dy = operand(out.sizes(), dtype, 4);
    const std::array<bool, 3> two{true, true, false};
    for (const std::int64_t asked : {1, 0}) {
      check_calls({{kForward, 1}, {kData, 0}, {kWeights, 0}, {kChoice, asked}, {"cublasLtMatmul", 0}},
                  [&] { CHECK(same_values(conv(on_cuda(x), on_cuda(w), on_cuda(b)), out)); });
      check_calls({{kForward, 0}, {kData, 1}, {kWeights, 1}, {kChoice, 2 * asked}, {"cublasLtMatmul", 0}}, [&] {
        const auto run = [&](const Tensor& grad, const Tensor& input, const Tensor& weight) {
          return convolution_backward(grad, input, weight, std::nullopt, {1}, {1}, {1}, false, {0}, 1, two);
        };
        const auto here = run(dy, x, w), there = run(on_cuda(dy), on_cuda(x), on_cuda(w));
        CHECK(same_values(std::get<0>(there), std::get<0>(here)));
        CHECK(same_values(std::get<1>(there), std::get<1>(here)));
      });
    }
    check_calls({{kData, 1}, {kForward, 0}},
                [&] { CHECK(same_values(conv(on_cuda(out), on_cuda(w), {}, true), conv(out, w, {}, true))); });
  }
}

TEST_CASE("what cuDNN does not have is computed over windows") {
  if (!has_cudnn() || !has_products()) return;
  check_calls({{kForward, 0}, {kData, 0}, {kChoice, 0}}, [] {
    const Tensor x = operand({2, 3, 8}, kComplexFloat, 1), w = operand({4, 3, 3}, kComplexFloat, 2);
    CHECK(same_values(conv(on_cuda(x), on_cuda(w)), conv(x, w)));
    // More output padding than a stride: what it is computed from is no convolution of it.
    const Tensor y = operand({2, 3, 8}, kFloat, 3), v = operand({3, 4, 3}, kFloat, 4);
    const Tensor longer = conv(y, v, {}, true, 1, 1, 2);
    CHECK(same_values(conv(on_cuda(y), on_cuda(v), {}, true, 1, 1, 2), longer));
    CHECK(conv(zeros({0, 3, 8}, TensorOptions().device(kCUDA)), on_cuda(v.transpose(0, 1))).numel() == 0);
  });
}

TEST_CASE("operands that cuDNN cannot take as they lie are copied for it") {
  if (lacks_device()) return;
  const Tensor x = operand({2, 3, 6, 8}, kFloat, 1), w = operand({4, 3, 3, 3}, kFloat, 2);
  const Tensor last = x.transpose(1, 3).contiguous().transpose(1, 3), out = conv(x, w);
  const Tensor memory = on_cuda(operand({1 + x.numel()}, kFloat, 3));
  Tensor odd = memory.slice(0, 1).view(x.sizes());  // between two multiples of what it is to be aligned to
  odd.copy_(x);
  Tensor target = zeros({2, 4, 8, 6}, TensorOptions().device(kCUDA)).transpose(2, 3);
  if (has_cudnn() || has_products()) {
    CHECK(same_values(conv(on_cuda(last), on_cuda(w)), out));
    CHECK(same_values(conv(odd, on_cuda(w)), out));
    convolution_out(target, odd, on_cuda(w), {}, {1}, {1}, {1}, false, {0}, 1);
    CHECK(same_values(target, out));
  }
}

TEST_CASE("float32 is not rounded for cuDNN's convolutions") {
  if (lacks_device() || !has_products() || std::getenv("KEYWAY_CUDA_ALLOW_TF32") != nullptr) return;
  const Tensor x = full({1, 1, 3, 3}, 1 + 1.0 / (1 << 20)), w = ones({1, 1, 3, 3});
  const Tensor out = conv(x, w), there = conv(on_cuda(x), on_cuda(w));
  CHECK(is_close(there, out, 1e-7));
}

TEST_CASE("a tensor core may round float32 for cuDNN's convolutions where that is allowed") {
  if (!has_cudnn() || std::getenv("KEYWAY_CUDA_ALLOW_TF32") == nullptr) return;
  const Tensor x = full({1, 1, 3, 3}, 1 + 1.0 / (1 << 20)), w = ones({1, 1, 3, 3});
  CHECK(is_close(conv(on_cuda(x), on_cuda(w)), conv(x, w), 1e-3));
  check_calls({{"cudnnConvolution in TF32", 1}}, [&] { (void)conv(on_cuda(x), on_cuda(w)); });
}

TEST_CASE("convolutions in streams, and on the second device, follow what is computed before them") {
  if (lacks_device() || (!has_cudnn() && !has_products())) return;
  const Tensor x = operand({1, 2, 5, 5}, kFloat, 1), w = operand({2, 2, 3, 3}, kFloat, 2);
  const Tensor expected = conv(conv(x, w), w);
  for (int device = 0; device < device_count(kCUDA) && device < 2; ++device) {
    const Device on(kCUDA, static_cast<std::int8_t>(device));
    const DeviceGuard guard(on);
    const StreamGuard stream(new_stream(kCUDA));
    const Tensor weights = w.to(on, kFloat);
    CHECK(same_values(conv(conv(x.to(on, kFloat), weights), weights), expected));
  }
}

TEST_CASE("a convolution of a graph, be it the first there is, is computed at each replay") {
  if (!has_cudnn() || !keeps_memory()) return;
  const Tensor x = operand({1, 2, 4, 5}, kFloat, 1), w = operand({2, 2, 3, 3}, kFloat, 2);
  const Tensor weights = on_cuda(w), input = on_cuda(x);
  Tensor out;
  CUDAGraph graph;
  {
    CUDAGraphCapture scope(graph);
    out = conv(input, weights);
    scope.end();
  }
  for (std::int64_t seed = 3; seed < 5; ++seed) {
    const Tensor next = operand({1, 2, 4, 5}, kFloat, seed);
    Tensor(input).copy_(next);
    graph.replay();
    CHECK(same_values(out, conv(next, w)));
  }
}

TEST_CASE("a convolution that cuDNN fails in is an error with its status, its words and the operator") {
  if (lacks_device() || cudnn_state() != "broken") return;
  const Tensor x = operand({1, 2, 5, 5}, kFloat, 1), w = operand({2, 2, 3, 3}, kFloat, 2);
  const std::string text = error_of([&] { (void)conv(on_cuda(x), on_cuda(w)); });
  INFO(text);
  CHECK(text.starts_with("convolution: cuDNN: CUDNN_STATUS_EXECUTION_FAILED in cudnnConvolutionForward: it is broken"));
  CHECK(text.find("KEYWAY_CUDA_CUDNN=0 does without cuDNN") != std::string::npos);
}

TEST_CASE(
    "a convolution that cuDNN refuses late, or calls invalid, is computed all the same, and it is not asked again") {
  const bool late = cudnn_state() == "late";
  if (!has_products() || (!late && cudnn_state() != "picky")) return;
  const Tensor x = operand({1, 2, 5, 5}, kFloat, 1), w = operand({2, 2, 3, 3}, kFloat, 2);
  for (const bool is_new : {true, false}) {
    check_calls({{kForward, is_new && late ? 1 : 0}, {kChoice, is_new ? 1 : 0}},
                [&] { CHECK(same_values(conv(on_cuda(x), on_cuda(w)), conv(x, w))); });
  }
}
