// convolution and its gradients: cuDNN's where it has an algorithm, else products over windows. cuDNN gets dense
// row-major operands, so others are copied for it; a bias is added in a second pass.
#include <keyway/backends/cuda/driver/cudnn.h>
#include <keyway/backends/cuda/kernels/kernels_convolution.h>
#include <keyway/backends/cuda/kernels/kernels_pointwise.h>
#include <keyway/backends/cuda/kernels/kernels_reduction.h>
#include <keyway/backends/cuda/kernels/operands.h>
#include <keyway/backends/cuda/kernels/window_convolution.h>

namespace keyway::inline v1::cuda {

namespace {

void add_bias(const TensorBase& bias, const TensorBase& out) {
  DimVector strides(out.sizes().size(), 0);
  strides[1] = bias.strides()[0];
  TensorBase sum = out;
  add_Tensor(out, make_view(bias, out.sizes(), strides, bias.storage_offset()), 1, sum);
}

// `tensor` if it lies as cuDNN takes it, else as much memory that does.
TensorBase for_library(const TensorBase& tensor) {
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(tensor.data_ptr()) % kCudnnAlignment == 0;
  if (is_aligned && tensor.is_contiguous()) return tensor;
  return make_tensor(tensor.sizes(), tensor.dtype(), tensor.device());
}

// Whether cuDNN has done it.
bool library_convolution(ConvResult result, const ConvOperands& of, const TensorBase& bias) {
  const auto problem = conv_problem(result, of.x, of.w, of.y, of.stride, of.padding, of.dilation, of.groups);
  const Device device = of.x.device();
  if (!problem || !cudnn_has(*problem, device)) return false;
  const TensorBase x = for_library(of.x), w = for_library(of.w), y = for_library(of.y);
  const auto read = [&](ConvResult which, const TensorBase& from, const TensorBase& to) {
    if (which != result && !to.is_same(from)) copy_elements(from, to);
  };
  read(ConvResult::Images, of.x, x);
  read(ConvResult::Weights, of.w, w);
  read(ConvResult::Outputs, of.y, y);
  if (!cudnn_convolution(*problem, x.data_ptr(), w.data_ptr(), y.data_ptr(), device)) return false;
  const auto write = [&](ConvResult which, const TensorBase& from, const TensorBase& to) {
    if (which != result) return;
    if (bias.defined()) add_bias(bias, from);
    if (!from.is_same(to)) copy_elements(from, to);
  };
  write(ConvResult::Images, x, of.x);
  write(ConvResult::Weights, w, of.w);
  write(ConvResult::Outputs, y, of.y);
  return true;
}

void convolve(ConvResult result, const ConvOperands& of, const TensorBase& bias = {}) {
  if (!library_convolution(result, of, bias)) window_convolution(result, of, bias);
}

}  // namespace

void convolution(const TensorBase& input, const TensorBase& weight, const TensorBase& bias, IntArrayRef stride,
                 IntArrayRef padding, IntArrayRef dilation, bool transposed, IntArrayRef, std::int64_t groups,
                 TensorBase& out) {
  if (transposed) {
    convolve(ConvResult::Images, {out, weight, input, stride, padding, dilation, groups}, bias);
  } else {
    convolve(ConvResult::Outputs, {input, weight, out, stride, padding, dilation, groups}, bias);
  }
}

void convolution_backward(const TensorBase& grad_output, const TensorBase& input, const TensorBase& weight,
                          std::optional<IntArrayRef>, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                          bool transposed, IntArrayRef, std::int64_t groups, ArrayRef<bool>, TensorBase& grad_input,
                          TensorBase& grad_weight, TensorBase& grad_bias) {
  const TensorBase& x = transposed ? grad_output : input;
  const TensorBase& y = transposed ? input : grad_output;
  if (grad_input.defined() && transposed) {
    convolve(ConvResult::Outputs, {x, weight, grad_input, stride, padding, dilation, groups});
  } else if (grad_input.defined()) {
    convolve(ConvResult::Images, {grad_input, weight, y, stride, padding, dilation, groups});
  }
  if (grad_weight.defined()) {
    convolve(ConvResult::Weights, {x, grad_weight, y, stride, padding, dilation, groups});
  }
  if (grad_bias.defined()) {
    // The sum of all but the channels.
    DimVector dims = {0};
    for (std::int64_t d = 2; d < grad_output.dim(); ++d) dims.push_back(d);
    sum_dim_IntList(grad_output, IntArrayRef(dims), false, grad_bias);
  }
}

}  // namespace keyway::inline v1::cuda
