// The device guards of the CPU and of Meta: one device, and all work is done when it is queued. Internal to core/.
#pragma once

#include <keyway/core/device/device_guard_impl.h>

namespace keyway::inline v1 {

// Its events are points in time.
class HostDeviceGuard final : public DeviceGuardImplInterface {
 public:
  constexpr explicit HostDeviceGuard(DeviceType type) : type_(type) {}

  DeviceType type() const noexcept override { return type_; }
  int device_count() const noexcept override { return 1; }
  Device get_device() const override { return type_; }
  Device exchange_device(Device) override { return type_; }
  void set_device(Device) override {}
  void unchecked_set_device(Device) noexcept override {}

  Stream get_stream(Device) const override { return Stream(type_); }
  Stream get_default_stream(Device) const override { return Stream(type_); }
  Stream get_new_stream(Device, int) override { return Stream(type_); }
  // Throws for any but the default stream.
  Stream exchange_stream(Stream stream) override;
  bool query_stream(Stream) const override { return true; }
  void synchronize_stream(Stream) const override {}
  void synchronize_device(Device) const override {}

  void* create_event(Device, bool) override;
  void destroy_event(void* event, Device) noexcept override;
  void record(void* event, Stream) override;
  void block(void*, Stream) override {}
  bool query_event(void*) const override { return true; }
  void synchronize_event(void*) const override {}
  double elapsed_time(void* start, void* end) const override;

 private:
  DeviceType type_;
};

extern constinit HostDeviceGuard cpu_device_guard;
extern constinit HostDeviceGuard meta_device_guard;

}  // namespace keyway::inline v1
