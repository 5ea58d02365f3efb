// The part of the pointwise driver that is compiled once: which elements the threads of a launch have. Internal to
// backends/cuda.
#pragma once

#include <keyway/backends/cuda/driver/device_assert_target.h>
#include <keyway/backends/cuda/launch_space.h>

#include <cstdint>

namespace keyway::inline v1::cuda {

inline constexpr unsigned kThreads = 256;
// Elements that a thread of the kernel for single ones has, kThreads apart.
inline constexpr unsigned kElementsPerThread = 4;

// Two kernels of a functor, each of (functor, space, DeviceAssertTarget): over vectors and over single elements.
struct PointwiseKernels {
  const void* vectors;    // space: VectorSpace
  const void* elements;   // space: LaunchSpace
  const char* assertion;  // null if all elements are accepted
  int width;              // of a vector
  int operands;
  std::int16_t itemsize[IterationSpace::kMaxOperands];
};

// operands[0] is the output. On the current stream of its device.
void launch_pointwise(const PointwiseKernels& kernels, const void* functor, const TensorBase* const* operands);

}  // namespace keyway::inline v1::cuda
