// The part of the reduction driver that is compiled once: which elements the threads of a launch have, and in how many
// units the elements of an output are shared out. Internal to backends/cuda.
#pragma once

#include <keyway/backends/cuda/reduction_launch.h>

#include <cstdint>

namespace keyway::inline v1::cuda {

// Two kernels of a functor: of (functor, ReductionLaunch), and of (functor, FinishLaunch).
struct ReductionKernels {
  const void* units;
  const void* finish;
  std::int64_t acc_bytes, element_bytes;
  bool indexed;
};

// `second` may be null. On the current stream of out's device.
void launch_reduction(const ReductionKernels& kernels, const void* functor, const TensorBase& out,
                      const TensorBase* second, const TensorBase& self, IntArrayRef dims);

}  // namespace keyway::inline v1::cuda
