// cuDNN, NVIDIA's library of convolutions, opened when the first convolution could use it. Where it is not installed,
// or was not when this was built, or KEYWAY_CUDA_CUDNN=0 in the environment, it has none. Internal to backends/cuda.
//
// Which of its algorithms may serve is a policy of this backend: those that give the same bits each time, that sum
// products as they are (not Winograd's or Fourier's transforms of them, which round more), and in at most 256 MiB.
// 16-bit floats are summed in float32, and float32 is float32, unless KEYWAY_CUDA_ALLOW_TF32=1 (tf32.h).
#pragma once

#include <keyway/backends/cuda/conv_problem.h>
#include <keyway/core/device/device.h>

namespace keyway::inline v1::cuda {

// What the library wants addresses to be multiples of.
inline constexpr std::uintptr_t kCudnnAlignment = 16;

// Whether it has an algorithm for this, which is kept for the next time. Requires: `device` is current. Throws
// keyway::Error that names the library's call that failed.
bool cudnn_has(const ConvProblem& problem, Device device);

// Computes it in the current stream of the device; memory that the algorithm needs is the caching allocator's. False if
// the library does not do it after all, which cudnn_has() knows from then on.
// Requires: cudnn_has(problem, device), which is current; tensors are row-major and aligned. Throws as cudnn_has does.
bool cudnn_convolution(const ConvProblem& problem, void* x, void* w, void* y, Device device);

}  // namespace keyway::inline v1::cuda
