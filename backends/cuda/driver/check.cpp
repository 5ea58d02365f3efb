#include <keyway/backends/cuda/driver/check.h>
#include <keyway/core/base/error.h>

#include <string>

namespace keyway::inline v1::cuda {

namespace {

ErrorKind kind_of(cudaError_t status) {
  switch (status) {
    case cudaErrorMemoryAllocation: return ErrorKind::OutOfMemory;
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorNotSupported: return ErrorKind::NotImplemented;
    default: return ErrorKind::Internal;
  }
}

// What this build has code for, and what the current device would need.
std::string architectures() {
  int device = 0;
  cudaDeviceProp found{};
  if (cudaGetDevice(&device) != cudaSuccess || cudaGetDeviceProperties(&found, device) != cudaSuccess) return {};
  return "; cuda:" + std::to_string(device) + " is of architecture " + std::to_string(found.major) +
         std::to_string(found.minor) + ", and this build has code for " + KEYWAY_CUDA_ARCHITECTURES +
         ": see CMAKE_CUDA_ARCHITECTURES";
}

std::string advice(cudaError_t status) {
  switch (status) {
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion: return architectures();
    case cudaErrorInsufficientDriver: return "; the driver is missing, or older than the runtime of this build";
    case cudaErrorDevicesUnavailable:
      return "; another process may have the device for itself, which nvidia-smi shows as its compute mode";
    default:
      return is_for_good(status) ? "; a kernel that ran before failed, and this process cannot use CUDA any more" : "";
  }
}

// Whether the call failed in a way that its caller expects; any other failure is an error.
bool failed_as(cudaError_t expected, cudaError_t status, const char* call) {
  if (status != expected) {
    check(status, call, __FILE__, __LINE__);
    return false;
  }
  (void)cudaGetLastError();
  return true;
}

}  // namespace

bool is_done(cudaError_t status, const char* call) { return !failed_as(cudaErrorNotReady, status, call); }

bool is_there(cudaError_t status, const char* call) { return !failed_as(cudaErrorMemoryAllocation, status, call); }

bool is_for_good(cudaError_t status) {
  switch (status) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorECCUncorrectable: return true;
    default: return false;
  }
}

void fail(cudaError_t status, const char* call, const char* file, int line) {
  (void)cudaGetLastError();  // the next call is not to report it again
  throw Error(kind_of(status),
              std::string("CUDA: ") + cudaGetErrorString(status) + " (" + cudaGetErrorName(status) + ")" +
                  advice(status) + "; in " + call,
              file, line);
}

}  // namespace keyway::inline v1::cuda
