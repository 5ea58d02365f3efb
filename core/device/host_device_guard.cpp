#include <keyway/core/base/error.h>
#include <keyway/core/device/host_device_guard.h>

#include <chrono>
#include <type_traits>

namespace keyway::inline v1 {

using Clock = std::chrono::steady_clock;

static_assert(std::is_trivially_destructible_v<HostDeviceGuard>);
constinit HostDeviceGuard cpu_device_guard(DeviceType::CPU);
constinit HostDeviceGuard meta_device_guard(DeviceType::Meta);

Stream HostDeviceGuard::exchange_stream(Stream stream) {
  KEYWAY_CHECK(stream.is_default(), "there is no {}: a device of type {} has one stream", stream, type_);
  return stream;
}

void* HostDeviceGuard::create_event(Device, bool) { return new Clock::time_point; }

void HostDeviceGuard::destroy_event(void* event, Device) noexcept { delete static_cast<Clock::time_point*>(event); }

void HostDeviceGuard::record(void* event, Stream) { *static_cast<Clock::time_point*>(event) = Clock::now(); }

double HostDeviceGuard::elapsed_time(void* start, void* end) const {
  const auto time = *static_cast<Clock::time_point*>(end) - *static_cast<Clock::time_point*>(start);
  return std::chrono::duration<double, std::milli>(time).count();
}

}  // namespace keyway::inline v1
