#include <keyway/core/base/error.h>
#include <keyway/core/device/synchronous_device_guard.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace keyway::inline v1 {

using Clock = std::chrono::steady_clock;

static_assert(std::is_trivially_destructible_v<HostDeviceGuard>);
constinit HostDeviceGuard cpu_device_guard(DeviceType::CPU);
constinit HostDeviceGuard meta_device_guard(DeviceType::Meta);

namespace {

// The current device of each type.
std::int8_t& current_index(DeviceType type) {
  static constinit thread_local std::array<std::int8_t, kNumDeviceTypes> indices{};
  return indices[static_cast<std::size_t>(type)];
}

}  // namespace

Device SynchronousDeviceGuard::get_device() const { return Device(type_, current_index(type_)); }

Device SynchronousDeviceGuard::exchange_device(Device device) {
  const Device before = get_device();
  set_device(device);
  return before;
}

void SynchronousDeviceGuard::unchecked_set_device(Device device) noexcept { current_index(type_) = device.index(); }

Stream SynchronousDeviceGuard::exchange_stream(Stream stream) {
  KEYWAY_CHECK(stream.is_default(), "there is no {}: a device of type {} has one stream", stream, type_);
  return stream;
}

void* SynchronousDeviceGuard::create_event(Device, bool) { return new Clock::time_point; }

void SynchronousDeviceGuard::destroy_event(void* event, Device) noexcept {
  delete static_cast<Clock::time_point*>(event);
}

void SynchronousDeviceGuard::record(void* event, Stream) { *static_cast<Clock::time_point*>(event) = Clock::now(); }

double SynchronousDeviceGuard::elapsed_time(void* start, void* end) const {
  const auto time = *static_cast<Clock::time_point*>(end) - *static_cast<Clock::time_point*>(start);
  return std::chrono::duration<double, std::milli>(time).count();
}

}  // namespace keyway::inline v1
