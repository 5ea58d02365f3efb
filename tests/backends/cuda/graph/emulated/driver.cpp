// libcuda.so.1 of emulated devices: loads the libraries that the emulated NVRTC makes, and launches their kernels as
// the emulated runtime launches others.
#include <keyway/backends/cuda/graph/device/fused_arguments.h>
#include <keyway/tests/backends/cuda/emulator/context.h>
#include <keyway/tests/backends/cuda/emulator/keyway/backends/cuda/driver/kernel_address.h>

#include <cstdlib>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <filesystem>

namespace {
using Kernel = void (*)(keyway::cuda::FusedArguments);
constexpr int kFailed = 1, kNoContext = 201, kTooNew = 222;

// KEYWAY_EMULATED_DRIVER: the version of CUDA that it is of.
int version() {
  const char* const wish = std::getenv("KEYWAY_EMULATED_DRIVER");
  return wish == nullptr ? 13 : std::atoi(wish);
}
}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int cuInit(unsigned) { return 0; }
int cuDriverGetVersion(int* number) {
  *number = 1000 * version();
  return 0;
}
int cuDeviceGet(int* device, int number) {
  *device = number;
  return 0;
}
// Compute capability 9.0.
int cuDeviceGetAttribute(int* value, int attribute, int) {
  *value = attribute == 75 ? 9 : 0;
  return 0;
}
// The name of the image ends with the version of the NVRTC that made it.
int cuModuleLoadData(void** module, const void* image) {
  if (!emulated_context()) return kNoContext;
  const std::filesystem::path file(static_cast<const char*>(image));
  if (std::atoi(file.extension().c_str() + 1) > version()) return kTooNew;
  *module = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  std::filesystem::remove_all(file.parent_path());  // code that is loaded stays
  return *module == nullptr ? kFailed : 0;
}
int cuModuleGetFunction(void** function, void* module, const char* name) {
  *function = dlsym(module, name);
  return *function == nullptr ? kFailed : 0;
}
int cuLaunchKernel(void* function, unsigned x, unsigned y, unsigned z, unsigned threads, unsigned, unsigned,
                   unsigned bytes, void* stream, void** arguments, void**) {
  const void* const kernel = keyway::cuda::kernel_address(reinterpret_cast<Kernel>(function));
  return cudaLaunchKernel(kernel, dim3(x, y, z), dim3(threads), arguments, bytes, static_cast<cudaStream_t>(stream));
}
int cuGetErrorString(int status, const char** text) {
  *text = status == kNoContext ? "no context is current"
          : status == kTooNew  ? "the code is newer than the driver"
                               : "the emulated driver cannot";
  return 0;
}

}  // extern "C"
#pragma GCC visibility pop
