#include <keyway/core/device/device_guard_impl.h>
#include <keyway/dispatch/inspect/device_ranges.h>

namespace keyway::inline v1 {

void DeviceRanges::begin(const CallEvent& call) {
  DeviceGuardImplInterface* const devices = find_device_guard_impl(type_);
  if (devices != nullptr) devices->range_push(call.op.short_name().c_str());
}

void DeviceRanges::end(const CallEvent&, bool) noexcept {
  DeviceGuardImplInterface* const devices = find_device_guard_impl(type_);
  if (devices != nullptr) devices->range_pop();
}

}  // namespace keyway::inline v1
