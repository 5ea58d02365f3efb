#include <keyway/backends/cuda/graph/driver_module.h>
#include <keyway/core/base/error.h>
#include <keyway/core/base/shared_library.h>

namespace keyway::inline v1::cuda {

namespace {

// The functions of CUDA's driver that are used, by the types of its ABI: modules, functions and streams are opaque
// pointers, devices and statuses integers.
struct Driver {
  LibraryFunctions<> library{"libcuda.so.1"};
  int (*const Init)(unsigned) = library.find("cuInit");
  int (*const DriverGetVersion)(int*) = library.find("cuDriverGetVersion");
  int (*const DeviceGet)(int*, int) = library.find("cuDeviceGet");
  int (*const DeviceGetAttribute)(int*, int attribute, int device) = library.find("cuDeviceGetAttribute");
  int (*const ModuleLoadData)(void** module, const void* image) = library.find("cuModuleLoadData");
  int (*const ModuleGetFunction)(void** function, void* module, const char* name) = library.find("cuModuleGetFunction");
  int (*const LaunchKernel)(void* function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned bytes,
                            void* stream, void** arguments, void** more) = library.find("cuLaunchKernel");
  int (*const GetErrorString)(int, const char**) = library.find("cuGetErrorString");

  Driver() {
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

int driver_version() {
  try {
    int version = 0;
    driver().check(driver().DriverGetVersion(&version), "cuDriverGetVersion");
    return version / 1000;
  } catch (const Error&) {
    return 0;
  }
}

int capability_of(Device device) {
  int number = 0, major = 0, minor = 0;
  driver().check(driver().DeviceGet(&number, device.index()), "cuDeviceGet");
  driver().check(driver().DeviceGetAttribute(&major, kMajor, number), "cuDeviceGetAttribute");
  driver().check(driver().DeviceGetAttribute(&minor, kMinor, number), "cuDeviceGetAttribute");
  return 10 * major + minor;
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
