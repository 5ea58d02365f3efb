// CudaDeviceGuard: devices, streams and events of CUDA behind the interface of core. Internal to backends/cuda.
#pragma once

#include <keyway/backends/cuda/driver/device_assert_source.h>
#include <keyway/backends/cuda/driver/runtime_stream.h>
#include <keyway/backends/cuda/pooled_stream.h>
#include <keyway/core/device/capture_streams.h>
#include <keyway/core/device/device_guard_impl.h>

namespace keyway::inline v1::cuda {

class CudaDeviceGuard final : public DeviceGuardImplInterface, public DeviceAssertSource, public CaptureStreams {
 public:
  DeviceType type() const noexcept override { return DeviceType::CUDA; }
  int device_count() const noexcept override;
  std::string why_no_device() const override;

  Device get_device() const override;
  Device exchange_device(Device device) override;
  void set_device(Device device) override;
  void unchecked_set_device(Device device) noexcept override;

  Stream get_stream(Device device) const override;
  Stream get_default_stream(Device device) const override { return Stream(device); }
  Stream get_new_stream(Device device, int priority) override;
  Stream exchange_stream(Stream stream) override;
  bool query_stream(Stream stream) const override;
  void synchronize_stream(Stream stream) const override;
  void synchronize_device(Device device) const override;

  void* create_event(Device device, bool timing) override;
  void destroy_event(void* event, Device device) noexcept override;
  void record(void* event, Stream stream) override;
  void block(void* event, Stream stream) override;
  bool query_event(void* event) const override;
  void synchronize_event(void* event) const override;
  double elapsed_time(void* start, void* end) const override;

  bool is_capturing(Stream stream) const override;
  std::unique_ptr<GraphImplInterface> new_graph() override;
  Stream capture_stream(Device device) override { return Stream(device, kCaptureStream); }

  void range_push(const char* name) noexcept override;
  void range_pop() noexcept override;

  void* native_handle(Stream stream) const override { return runtime_stream(stream); }

  DeviceAssertTarget assert_target(const char* op, const char* reason, Stream stream) override;
};

// The one of the process.
CudaDeviceGuard& cuda_device_guard();

}  // namespace keyway::inline v1::cuda
