#include <keyway/backends/cuda/graph/driver_module.h>
#include <keyway/core/base/error.h>
#include <keyway/core/base/shared_library.h>

#include <fmt/format.h>

namespace keyway::inline v1::cuda {

namespace {

// The functions of CUDA's driver that are used, by the types of its ABI: modules, functions and streams are opaque
// pointers, devices and statuses integers.
struct Driver {
  int (*Init)(unsigned) = nullptr;
  int (*DeviceGet)(int*, int) = nullptr;
  int (*DeviceGetAttribute)(int*, int attribute, int device) = nullptr;
  int (*ModuleLoadData)(void** module, const void* image) = nullptr;
  int (*ModuleGetFunction)(void** function, void* module, const char* name) = nullptr;
  int (*LaunchKernel)(void* function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned bytes,
                      void* stream, void** arguments, void** more) = nullptr;
  int (*GetErrorString)(int, const char**) = nullptr;

  Driver() {
    LibraryFunctions<> library("libcuda.so.1");
    library.find("cuInit", Init);
    library.find("cuDeviceGet", DeviceGet);
    library.find("cuDeviceGetAttribute", DeviceGetAttribute);
    library.find("cuModuleLoadData", ModuleLoadData);
    library.find("cuModuleGetFunction", ModuleGetFunction);
    library.find("cuLaunchKernel", LaunchKernel);
    library.find("cuGetErrorString", GetErrorString);
    KEYWAY_CHECK_AS(NotImplemented, library.problem().empty(), "kernels that are made at run time need the driver: {}",
                    library.problem());
    const int status = Init(0);
    KEYWAY_CHECK_AS(NotImplemented, status == 0, "CUDA's driver does not start: {}", status);
  }

  void check(int status, const char* call) const {
    if (status == 0) [[likely]]
      return;
    const char* text = nullptr;
    (void)GetErrorString(status, &text);
    KEYWAY_FAIL(Internal, "{} failed: {} ({})", call, text == nullptr ? "an error without a text" : text, status);
  }
};

const Driver& driver() {
  static const Driver& found = *new Driver;
  return found;
}

// Of a device, its compute capability.
constexpr int kMajor = 75, kMinor = 76;

}  // namespace

std::string architecture_of(Device device) {
  int number = 0, major = 0, minor = 0;
  driver().check(driver().DeviceGet(&number, device.index()), "cuDeviceGet");
  driver().check(driver().DeviceGetAttribute(&major, kMajor, number), "cuDeviceGetAttribute");
  driver().check(driver().DeviceGetAttribute(&minor, kMinor, number), "cuDeviceGetAttribute");
  return fmt::format("sm_{}{}", major, minor);
}

DriverModule::DriverModule(const std::string& image, const char* kernel) {
  void* module = nullptr;
  driver().check(driver().ModuleLoadData(&module, image.c_str()), "cuModuleLoadData");
  driver().check(driver().ModuleGetFunction(&function_, module, kernel), "cuModuleGetFunction");
}

void DriverModule::launch(Stream stream, unsigned blocks, unsigned threads, const void* argument) const {
  void* arguments[] = {const_cast<void*>(argument)};
  driver().check(
      driver().LaunchKernel(function_, blocks, 1, 1, threads, 1, 1, 0, stream.native_handle(), arguments, nullptr),
      "cuLaunchKernel");
}

}  // namespace keyway::inline v1::cuda
