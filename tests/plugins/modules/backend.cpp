// A backend of its own device type, which is called like its file: libnpu3.so and libkeyway_npu3.so bring npu3.
#include <keyway/dispatch/plugin/plugin.h>
#include <keyway/tests/core/fake_device.h>

#include <dlfcn.h>

namespace {

using namespace keyway;
using namespace keyway::testing;

void here() {}

std::string name_of_this_file() {
  Dl_info found;
  KEYWAY_CHECK(dladdr(reinterpret_cast<void*>(here), &found) != 0, "this code lies in no file");
  const std::string path = found.dli_fname;
  const std::size_t begin = path.rfind("/lib") + 4;
  const std::string name = path.substr(begin, path.rfind(".so") - begin);
  return name.starts_with("keyway_") ? name.substr(7) : name;
}

// The devices with their memory.
struct Backend {
  FakeDevices devices;
  FakeAllocator allocator{devices};
  DeviceGuardRegistration guard = register_device_guard(devices);

  explicit Backend(DeviceType type) : devices(type) { set_allocator(type, &allocator); }
  ~Backend() { set_allocator(devices.type(), nullptr); }
};

}  // namespace

KEYWAY_PLUGIN(backend, plugin) {
  const std::string name = name_of_this_file();
  const DeviceType type = register_device_type(name);
  plugin.keep(std::make_unique<Backend>(type));
  plugin.library(name).def("number() -> int", [type] { return static_cast<std::int64_t>(type); });
  plugin.impl("plugins", runtime_key(Functionality::Dense, type)).impl("where", [name](const TensorBase&) {
    return name;
  });
  plugin.impl("keyway", runtime_key(Functionality::Dense, type)).impl("relu", [](const TensorBase& self) {
    return self;
  });
}
