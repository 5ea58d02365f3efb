// Checks of what CUDA's runtime returns.
#pragma once

#include <c10/util/Exception.h>
#include <cuda_runtime_api.h>

// Throws keyway::Error(Internal) with the runtime's words and the expression.
#define C10_CUDA_CHECK(expression)                                                                \
  do {                                                                                            \
    const cudaError_t keyway_compat_status = expression;                                          \
    if (C10_UNLIKELY(keyway_compat_status != cudaSuccess)) {                                      \
      static_cast<void>(cudaGetLastError());                                                      \
      KEYWAY_FAIL(Internal, "CUDA: {}: {}", cudaGetErrorName(keyway_compat_status), #expression); \
    }                                                                                             \
  } while (false)
#define C10_CUDA_CHECK_WARN(expression)                                               \
  do {                                                                                \
    const cudaError_t keyway_compat_status = expression;                              \
    if (C10_UNLIKELY(keyway_compat_status != cudaSuccess)) {                          \
      static_cast<void>(cudaGetLastError());                                          \
      TORCH_WARN("CUDA: ", cudaGetErrorName(keyway_compat_status), ": " #expression); \
    }                                                                                 \
  } while (false)
#define C10_CUDA_IGNORE_ERROR(expression)                                                 \
  do {                                                                                    \
    if (C10_UNLIKELY((expression) != cudaSuccess)) static_cast<void>(cudaGetLastError()); \
  } while (false)
// After a launch.
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(cudaGetLastError())
