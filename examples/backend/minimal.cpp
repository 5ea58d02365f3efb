// The least that makes a device type usable: where its memory comes from, how bytes get there and back, and the CPU's
// kernels for everything. All of PyTorch-like programming works on it, training too, at the price of copies:
//
//   keyway --plugin libkeyway_sim.so train --device sim
//
// From here on a backend grows kernel by kernel: `keyway plugin report` says which operators move the most bytes.
#include <keyway/core/device/device_backend.h>
#include <keyway/core/device/device_guard.h>
#include <keyway/core/device/host_allocator.h>
#include <keyway/dispatch/plugin/cpu_fallback.h>
#include <keyway/dispatch/plugin/plugin.h>

#include <cstdint>
#include <cstring>

namespace {

using namespace keyway;

// The simulated device: its memory is the host's, under addresses that the host cannot use. A kernel of the CPU that
// gets one of its pointers crashes at once, as with a real device.
constexpr std::uintptr_t kDeviceBit = std::uintptr_t{1} << 62;
void* device_address(void* host) {
  return host == nullptr ? nullptr : reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(host) | kDeviceBit);
}
void* host_address(const void* device) {
  return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(device) & ~kDeviceBit);
}

class SimAllocator final : public Allocator {
 public:
  explicit SimAllocator(DeviceType type) : type_(type) {}
  DataPtr allocate(std::size_t bytes) override {
    auto* const host = new DataPtr(host_allocator().allocate(bytes));
    const auto free = [](void* context) { delete static_cast<DataPtr*>(context); };
    return DataPtr(device_address(host->get()), host, free, current_device(type_));
  }
  void copy_data(void* to, const void* from, std::size_t bytes) override {
    std::memcpy(host_address(to), host_address(from), bytes);
  }
  void copy_from_host(void* to, const void* from, std::size_t bytes) override {
    std::memcpy(host_address(to), from, bytes);
  }
  void copy_to_host(void* to, const void* from, std::size_t bytes) override {
    std::memcpy(to, host_address(from), bytes);
  }

 private:
  DeviceType type_;
};

}  // namespace

KEYWAY_PLUGIN(sim, plugin) {
  const DeviceType sim = register_device_type("sim");
  plugin.keep(register_device_backend(sim, {.allocator = std::make_shared<SimAllocator>(sim), .device_count = 2}));
  plugin.impl("_", runtime_key(Functionality::Dense, sim)).fallback(cpu_fallback);
}
