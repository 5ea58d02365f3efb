// Changes much, and then does what FAULT says: 1 throws, 2 calls exit(), 3 does so in a static object, 8 aborts there,
// 4 and 6 stay, 5 asks for what Keyway has no more. 7 changes nothing, but keeps memory and an event of devices that
// another serves.
#include <keyway/core/base/warning.h>
#include <keyway/core/device/event.h>
#include <keyway/core/tensor/tensor_base.h>
#include <keyway/dispatch/plugin/plugin.h>
#include <keyway/tests/core/fake_device.h>

#include <cstdlib>
#include <cstring>
#include <stdexcept>

#if FAULT == 5
namespace keyway::inline v1 {
KEYWAY_API void gone_in_this_version();
}
#endif

namespace {

using namespace keyway;
using namespace keyway::testing;

#if FAULT == 3
struct Ends {
  Ends() { std::exit(3); }
} const ends;
#elif FAULT == 8
struct Aborts {
  Aborts() { std::abort(); }
} const aborts;
#endif

// Memory under the fake device's name, and pinned memory of the CPU.
class HostMemory final : public Allocator {
 public:
  explicit HostMemory(Device device) : device_(device) {}
  DataPtr allocate(std::size_t bytes) override {
    void* const data = ::operator new(bytes);
    return DataPtr(
        data, data, [](void* context) { ::operator delete(context); }, device_);
  }
  void copy_data(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
  Allocator& pinned() override {
    static HostMemory of_cpu{Device(kCPU)};
    return of_cpu;
  }

 private:
  Device device_;
};

struct Fragile {
  FakeDevices devices;
  HostMemory memory;
  DeviceGuardRegistration guard;

  explicit Fragile(DeviceType type) : devices(type), memory(devices.device(0)) {
    set_allocator(type, &memory);
    if (find_device_guard_impl(type) == nullptr) guard = register_device_guard(devices);
  }
  ~Fragile() { set_allocator(devices.type(), nullptr); }
};

}  // namespace

KEYWAY_PLUGIN(fragile, plugin) {
  const DeviceType type = register_device_type("dev3");
#if FAULT != 7
  set_warning_handler([](std::string_view) { std::abort(); });
  auto backend = std::make_unique<Fragile>(type);
  plugin.keep(std::move(backend));
#endif
  const std::int64_t sizes[] = {3};
  plugin.keep(make_tensor(sizes, ScalarType::Float, Device(type)));
#if FAULT != 6  // whose devices may be another's
  Event event(type);
  event.record(current_stream(Device(type)));
  plugin.keep(std::move(event));
#endif
#if FAULT == 1
  throw std::runtime_error("it has no such device");
#elif FAULT == 2
  std::exit(3);
#elif FAULT == 5
  gone_in_this_version();
#endif
}
