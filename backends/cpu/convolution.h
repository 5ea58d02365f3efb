// What convolutions on the CPU have in common, whoever computes them.
//
// A transposed convolution is the gradient of one with respect to its input. So three things are computed, all
// of one problem with an input x, weights w [out channels, in channels of a group, kernel] and an output y:
// y from x and w; x from w and y; w from x and y.
#pragma once

#include <keyway/core/tensor/tensor_base.h>

#include <cstdint>

namespace keyway::inline v1 {

enum class ConvPass : std::uint8_t {
  Forward,  // y
  Data,     // x
  Weights,  // w
};

struct ConvProblem {
  int rank = 0;  // spatial dimensions, 1 to 3
  std::int64_t batch = 0;
  std::int64_t groups = 0;
  std::int64_t in_channels = 0;  // of a group, as out_channels
  std::int64_t out_channels = 0;
  std::int64_t in[3] = {}, out[3] = {}, kernel[3] = {};
  std::int64_t stride[3] = {}, padding[3] = {}, dilation[3] = {};

  // Multiplications; as a double, which cannot overflow.
  double work() const;
  friend bool operator==(const ConvProblem&, const ConvProblem&) = default;
};

// The problem of x, w and y, with the lists of the operator. Requires: the operator's contracts.
ConvProblem make_conv_problem(const TensorBase& x, const TensorBase& w, const TensorBase& y, IntArrayRef stride,
                              IntArrayRef padding, IntArrayRef dilation, std::int64_t groups);

// By our own loops: columns of the input's windows, and matrix products. Any strides; no tensor is empty.
// T: float, double, complex<float>, complex<double>.
template <typename T>
void own_convolution(ConvPass pass, const ConvProblem& problem, const TensorBase& x, const TensorBase& w,
                     const TensorBase& y);
// By oneDNN: float32, or what is read is bfloat16. Adds `bias`, unless it is null, in the forward pass. False if it
// cannot; then nothing has happened. Requires: no tensor is empty; they are dense.
bool onednn_convolution(ConvPass pass, const ConvProblem& problem, const TensorBase& x, const TensorBase& w,
                        const TensorBase& y, const float* bias);

}  // namespace keyway::inline v1
