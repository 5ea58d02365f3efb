// The allocator of CUDA's memory, which keeps what is freed for reuse.
#pragma once

#include <keyway/core/device/allocator.h>
#include <keyway/core/tensor/device_allocator.h>

#include <c10/cuda/CUDAStream.h>

namespace c10::cuda::CUDACachingAllocator {

// Allocates for work of the current stream. Errors (NotImplemented): no backend serves CUDA.
inline Allocator* get() { return &get_allocator(DeviceType::CUDA); }
inline void emptyCache() { empty_cache(DeviceType::CUDA); }

}  // namespace c10::cuda::CUDACachingAllocator
