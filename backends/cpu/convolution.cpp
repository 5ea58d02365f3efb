// Kernels of convolution and its gradients: what is computed in what dtype, and by whom.
#include <keyway/backends/cpu/convolution.h>
#include <keyway/backends/cpu/copy.h>
#include <keyway/backends/cpu/kernels_convolution.h>
#include <keyway/backends/cpu/pointwise.h>
#include <keyway/backends/cpu/reduction.h>
#include <keyway/backends/cpu/simd/level.h>
#include <keyway/core/dtype/visit_dtype.h>
#include <keyway/ops/functors/arithmetic.h>

#include <array>
#include <cstring>

namespace keyway::inline v1 {

double ConvProblem::work() const {
  double product = static_cast<double>(batch) * static_cast<double>(groups) * static_cast<double>(in_channels) *
                   static_cast<double>(out_channels);
  for (int d = 0; d < rank; ++d) product *= static_cast<double>(out[d]) * static_cast<double>(kernel[d]);
  return product;
}

ConvProblem make_conv_problem(const TensorBase& x, const TensorBase& w, const TensorBase& y, IntArrayRef stride,
                              IntArrayRef padding, IntArrayRef dilation, std::int64_t groups) {
  ConvProblem problem;
  problem.rank = static_cast<int>(x.dim()) - 2;
  problem.batch = x.sizes()[0];
  problem.groups = groups;
  problem.in_channels = w.sizes()[1];
  problem.out_channels = w.sizes()[0] / groups;
  const auto item = [](IntArrayRef list, std::size_t d) { return list[list.size() == 1 ? 0 : d]; };
  for (std::size_t d = 0; d < static_cast<std::size_t>(problem.rank); ++d) {
    problem.in[d] = x.sizes()[2 + d];
    problem.out[d] = y.sizes()[2 + d];
    problem.kernel[d] = w.sizes()[2 + d];
    problem.stride[d] = item(stride, d);
    problem.padding[d] = item(padding, d);
    problem.dilation[d] = item(dilation, d);
  }
  return problem;
}

namespace {

constexpr DtypeSet kComputeTypes{kFloat, kDouble, kComplexFloat, kComplexDouble, kLong};

// What 16-bit floats and complex numbers of them are computed in.
ScalarType compute_dtype(ScalarType dtype) {
  if (dtype == kHalf || dtype == kBFloat16) return kFloat;
  return dtype == kComplexHalf ? kComplexFloat : dtype;
}

// `tensor` in a dtype and dense, perhaps a copy.
TensorBase prepared(const TensorBase& tensor, ScalarType dtype) {
  if (tensor.dtype() == dtype && tensor.is_non_overlapping_and_dense()) return tensor;
  const MemoryFormat format = tensor.suggest_memory_format();
  TensorBase copy = make_tensor_strided(tensor.sizes(), strides_for(tensor.sizes(), format), dtype, tensor.device());
  copy_elements(tensor, copy);
  return copy;
}

// A dense tensor of a dtype to write a result to: `out` itself, or another whose elements go to it.
TensorBase writable(const TensorBase& out, ScalarType dtype) {
  if (out.dtype() == dtype && out.is_non_overlapping_and_dense()) return out;
  return make_tensor_strided(out.sizes(), strides_for(out.sizes(), out.suggest_memory_format()), dtype, out.device());
}

void fill_zero(const TensorBase& tensor) {
  TensorBase zero = make_tensor(DimVector{1}, tensor.dtype(), tensor.device());
  std::memset(zero.data_ptr(), 0, zero.nbytes());
  copy_elements(make_view(zero, {}, {}, 0), tensor);
}

// `bias` with the dimensions of an image before it, to be broadcast.
TensorBase over_channels(const TensorBase& bias, std::int64_t rank) {
  DimVector sizes(static_cast<std::size_t>(rank), 1), strides(static_cast<std::size_t>(rank), 0);
  sizes[1] = bias.sizes()[0];
  strides[1] = bias.strides()[0];
  return make_view(bias, sizes, strides, bias.storage_offset());
}

void add_bias(const TensorBase& y, const TensorBase& bias) {
  const TensorBase channels = over_channels(bias, y.dim());
  visit_dtype<kComputeTypes>(y.dtype(), "convolution",
                             [&]<typename T>() { pointwise(Add<T>{Opmath<T>(1)}, y, y, channels); });
}

// x, w or y from the two others, and what is added to the result.
struct Pass {
  ConvPass pass;
  const ConvProblem& problem;
  const TensorBase* tensors[3];
  TensorBase bias;

  int result() const { return pass == ConvPass::Data ? 0 : pass == ConvPass::Weights ? 1 : 2; }
  // The tensors, dense: what is read in one dtype, the result in the other.
  std::array<TensorBase, 3> ready(ScalarType read, ScalarType written) const {
    std::array<TensorBase, 3> all;
    for (int i = 0; i < 3; ++i) {
      all[static_cast<std::size_t>(i)] = i == result() ? writable(*tensors[i], written) : prepared(*tensors[i], read);
    }
    return all;
  }
  void finish(const TensorBase& out) const {
    if (!out.is_same(*tensors[result()])) copy_elements(out, *tensors[result()]);
  }
};

// False, and nothing has happened, if oneDNN cannot with what is read in that dtype.
bool compute_by_onednn(const Pass& of, ScalarType read) {
  const std::array<TensorBase, 3> all = of.ready(read, kFloat);
  const TensorBase bias = of.bias.defined() ? prepared(of.bias, kFloat) : TensorBase();
  const bool fused = of.pass == ConvPass::Forward && bias.defined();
  const float* const numbers = fused ? static_cast<const float*>(bias.data_ptr()) : nullptr;
  if (!onednn_convolution(of.pass, of.problem, all[0], all[1], all[2], numbers)) return false;
  const TensorBase& out = all[static_cast<std::size_t>(of.result())];
  if (bias.defined() && !fused) add_bias(out, bias);
  of.finish(out);
  return true;
}

// `bias` is added to the result of the forward pass, and to x in the data pass.
void compute(ConvPass pass, const ConvProblem& problem, const TensorBase& x, const TensorBase& w, const TensorBase& y,
             const TensorBase& bias = {}) {
  const Pass of{pass, problem, {&x, &w, &y}, bias};
  const ScalarType given = x.dtype(), dtype = compute_dtype(given);
  const bool empty = x.numel() == 0 || w.numel() == 0 || y.numel() == 0;
  if (!empty && given == kBFloat16 && multiplies_bfloat16() && compute_by_onednn(of, kBFloat16)) return;
  if (!empty && dtype == kFloat && compute_by_onednn(of, kFloat)) return;
  const std::array<TensorBase, 3> all = of.ready(dtype, dtype);
  const TensorBase& out = all[static_cast<std::size_t>(of.result())];
  if (empty) {
    fill_zero(out);
  } else {
    visit_dtype<kComputeTypes>(dtype, "convolution",
                               [&]<typename T>() { own_convolution<T>(pass, problem, all[0], all[1], all[2]); });
  }
  if (bias.defined() && out.numel() != 0) add_bias(out, prepared(bias, dtype));
  of.finish(out);
}

// The sum of all but the channels.
void sum_channels(const TensorBase& grad, const TensorBase& out) {
  DimVector dims = {0};
  for (std::int64_t d = 2; d < grad.dim(); ++d) dims.push_back(d);
  visit_dtype<kFloatingAndComplexTypes>(grad.dtype(), "convolution_backward",
                                        [&]<typename T>() { reduce(Sum<T>{}, out, grad, dims); });
}

}  // namespace

namespace cpu {

void convolution(const TensorBase& input, const TensorBase& weight, const TensorBase& bias, IntArrayRef stride,
                 IntArrayRef padding, IntArrayRef dilation, bool transposed, IntArrayRef, std::int64_t groups,
                 TensorBase& out) {
  const TensorBase& x = transposed ? out : input;
  const TensorBase& y = transposed ? input : out;
  compute(transposed ? ConvPass::Data : ConvPass::Forward,
          make_conv_problem(x, weight, y, stride, padding, dilation, groups), x, weight, y, bias);
}

void convolution_backward(const TensorBase& grad_output, const TensorBase& input, const TensorBase& weight,
                          std::optional<IntArrayRef>, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                          bool transposed, IntArrayRef, std::int64_t groups, ArrayRef<bool>, TensorBase& grad_input,
                          TensorBase& grad_weight, TensorBase& grad_bias) {
  const ConvProblem problem = transposed
                                  ? make_conv_problem(grad_output, weight, input, stride, padding, dilation, groups)
                                  : make_conv_problem(input, weight, grad_output, stride, padding, dilation, groups);
  if (grad_input.defined()) {
    if (transposed) {
      compute(ConvPass::Forward, problem, grad_output, weight, grad_input);
    } else {
      compute(ConvPass::Data, problem, grad_input, weight, grad_output);
    }
  }
  if (grad_weight.defined()) {
    const TensorBase& x = transposed ? grad_output : input;
    const TensorBase& y = transposed ? input : grad_output;
    compute(ConvPass::Weights, problem, x, grad_weight, y);
  }
  if (grad_bias.defined()) sum_channels(grad_output, grad_bias);
}

}  // namespace cpu

}  // namespace keyway::inline v1
