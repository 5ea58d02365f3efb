// launch: puts a kernel into a stream. For kernels of this backend, and of libraries out of tree.
#pragma once

#include <keyway/backends/cuda/driver/check.h>
#include <keyway/backends/cuda/driver/kernel_address.h>

#include <cstdint>
#include <type_traits>

namespace keyway::inline v1::cuda {

// `arguments` are the addresses of what the kernel takes, copied before this returns. Requires: the stream's device is
// current, and each count of blocks is at least 1.
inline void launch_with(const void* kernel, dim3 blocks, unsigned threads, cudaStream_t stream,
                        const void* const* arguments) {
  KEYWAY_CUDA_CHECK(cudaLaunchKernel(kernel, blocks, dim3(threads), const_cast<void**>(arguments), 0, stream));
}

template <typename... A>
void launch(void (*kernel)(A...), dim3 blocks, unsigned threads, cudaStream_t stream,
            const std::type_identity_t<A>&... arguments) {
  const void* const all[] = {&arguments...};
  launch_with(kernel_address(kernel), blocks, threads, stream, all);
}

// How many blocks of `per_block` have `items`, of which there is at least one.
inline unsigned blocks_for(std::uint32_t items, unsigned per_block) { return (items - 1) / per_block + 1; }

}  // namespace keyway::inline v1::cuda
