// libcuda.so.1 of emulated devices: loads the libraries that the emulated NVRTC makes, and launches their kernels as
// the emulated runtime launches others.
#include <keyway/backends/cuda/graph/device/fused_arguments.h>
#include <keyway/tests/backends/cuda/emulator/keyway/backends/cuda/driver/kernel_address.h>

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <filesystem>

namespace {
using Kernel = void (*)(keyway::cuda::FusedArguments);
constexpr int kFailed = 1;
}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int cuInit(unsigned) { return 0; }
int cuDeviceGet(int* device, int number) {
  *device = number;
  return 0;
}
// Compute capability 9.0.
int cuDeviceGetAttribute(int* value, int attribute, int) {
  *value = attribute == 75 ? 9 : 0;
  return 0;
}
int cuModuleLoadData(void** module, const void* image) {
  const std::filesystem::path file(static_cast<const char*>(image));
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
int cuGetErrorString(int, const char** text) {
  *text = "the emulated driver cannot";
  return 0;
}

}  // extern "C"
#pragma GCC visibility pop
