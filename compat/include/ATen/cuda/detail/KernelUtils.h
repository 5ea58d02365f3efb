// How kernels of one thread an element are launched.
#pragma once

#include <algorithm>
#include <c10/util/Exception.h>
#include <cstdint>
#include <limits>

// For each i below n, by all threads of the launch; `index_type` holds n and what one step goes beyond it.
#define CUDA_KERNEL_LOOP_TYPE(i, n, index_type)                                                          \
  for (std::int64_t keyway_compat_at = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x, \
                    i##_stop = (n), i##_step = static_cast<std::int64_t>(blockDim.x) * gridDim.x;        \
       keyway_compat_at < i##_stop; keyway_compat_at += i##_step)                                        \
    if (index_type i = static_cast<index_type>(keyway_compat_at); true)
#define CUDA_KERNEL_LOOP(i, n) CUDA_KERNEL_LOOP_TYPE(i, n, int)

namespace at::cuda::detail {

inline constexpr int CUDA_NUM_THREADS = 1024;

// Blocks for N elements. Errors (Value): none, or more blocks than a launch has.
inline int GET_BLOCKS(const std::int64_t N, const std::int64_t max_threads_per_block = CUDA_NUM_THREADS) {
  TORCH_CHECK(N > 0, "a CUDA kernel is launched for ", N, " elements");
  const std::int64_t blocks = (N - 1) / max_threads_per_block + 1;
  TORCH_CHECK(blocks <= std::numeric_limits<int>::max(), "a CUDA kernel is launched with ", blocks, " blocks");
  return static_cast<int>(blocks);
}

}  // namespace at::cuda::detail
