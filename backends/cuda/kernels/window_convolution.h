// window_convolution: convolutions as matrix products over the windows of the input (im2col.h), for dtypes and
// sizes that cuDNN does not have, and machines without it. Internal to backends/cuda.
#pragma once

#include <keyway/backends/cuda/conv_problem.h>

namespace keyway::inline v1::cuda {

// y is the convolution of x by w, as conv_problem.h has them, of any strides. Lists have one number or one for each
// spatial dimension.
struct ConvOperands {
  const TensorBase &x, &w, &y;
  IntArrayRef stride, padding, dilation;
  std::int64_t groups;
};

// One of the three, of the other two. x or y with a bias for each channel, unless that is undefined.
// Requires: the operator's contracts; all lie on the current device.
void window_convolution(ConvResult result, const ConvOperands& of, const TensorBase& bias);

}  // namespace keyway::inline v1::cuda
