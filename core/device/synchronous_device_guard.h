// SynchronousDeviceGuard: devices whose work is done when it is queued.
#pragma once

#include <keyway/core/device/device_guard_impl.h>

namespace keyway::inline v1 {

// Each device has one stream, the default one, and its events are points in time. What a backend derives from whose
// kernels return when their work is done.
class KEYWAY_API SynchronousDeviceGuard : public DeviceGuardImplInterface {
 public:
  constexpr explicit SynchronousDeviceGuard(DeviceType type, int count = 1) : type_(type), count_(count) {}

  DeviceType type() const noexcept override { return type_; }
  int device_count() const noexcept override { return count_; }
  Device get_device() const override;
  Device exchange_device(Device device) override;
  void set_device(Device device) override { unchecked_set_device(device); }
  void unchecked_set_device(Device device) noexcept override;

  Stream get_stream(Device device) const override { return Stream(device); }
  Stream get_default_stream(Device device) const override { return Stream(device); }
  Stream get_new_stream(Device device, int) override { return Stream(device); }
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

 protected:
  ~SynchronousDeviceGuard() = default;

 private:
  DeviceType type_;
  int count_;
};

// Those of the CPU and of Meta: one device, which has no index. Internal to core/.
class HostDeviceGuard final : public SynchronousDeviceGuard {
 public:
  constexpr explicit HostDeviceGuard(DeviceType type) : SynchronousDeviceGuard(type) {}

  Device get_device() const override { return type(); }
  Device exchange_device(Device) override { return type(); }
  void unchecked_set_device(Device) noexcept override {}
  Stream get_stream(Device) const override { return Stream(type()); }
  Stream get_default_stream(Device) const override { return Stream(type()); }
  Stream get_new_stream(Device, int) override { return Stream(type()); }
};

extern constinit HostDeviceGuard cpu_device_guard;
extern constinit HostDeviceGuard meta_device_guard;

}  // namespace keyway::inline v1
