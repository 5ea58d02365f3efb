// check: the result of a call of the CUDA runtime. Internal to backends/cuda.
#pragma once

#include <cuda_runtime_api.h>

namespace keyway::inline v1::cuda {

// Throws keyway::Error that names the call, the runtime's error and what it means: of kind OutOfMemory where memory is
// used up, NotImplemented where the machine has no device, no driver or no kernel for the device, else Internal.
[[noreturn]] void fail(cudaError_t status, const char* call, const char* file, int line);

inline void check(cudaError_t status, const char* call, const char* file, int line) {
  if (status != cudaSuccess) [[unlikely]]
    fail(status, call, file, line);
}

// For calls that report what ran before them as well.
#define KEYWAY_CUDA_CHECK(call) ::keyway::cuda::check((call), #call, __FILE__, __LINE__)

// For questions whose answer may be "not yet".
bool is_done(cudaError_t status, const char* call);
// For calls that ask for memory: whether there is some.
bool is_there(cudaError_t status, const char* call);

// Whether the error is one of the process: every further call of the runtime gives it again.
bool is_for_good(cudaError_t status);

}  // namespace keyway::inline v1::cuda
