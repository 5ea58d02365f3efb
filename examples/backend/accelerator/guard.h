// AcceleratorGuard: how Keyway's devices, streams and events are the hardware's chips, queues and points.
#pragma once

#include <keyway/core/device/synchronous_device_guard.h>

#include <accelerator/hardware.h>
#include <atomic>
#include <memory>

namespace accelerator {

// The current device of a thread is kept by the base; streams and events are this class's.
class AcceleratorGuard final : public keyway::SynchronousDeviceGuard {
 public:
  AcceleratorGuard(keyway::DeviceType type, std::shared_ptr<Hardware> hardware)
      : SynchronousDeviceGuard(type, kChips), hardware_(std::move(hardware)) {}

  keyway::Stream get_stream(keyway::Device device) const override;
  // Streams 1 and up, in turn.
  keyway::Stream get_new_stream(keyway::Device device, int priority) override;
  keyway::Stream exchange_stream(keyway::Stream stream) override;
  bool query_stream(keyway::Stream stream) const override;
  // Errors of commands are thrown here: they are found while the host goes on.
  void synchronize_stream(keyway::Stream stream) const override;
  void synchronize_device(keyway::Device device) const override;

  void* create_event(keyway::Device device, bool timing) override;
  void destroy_event(void* event, keyway::Device device) noexcept override;
  void record(void* event, keyway::Stream stream) override;
  void block(void* event, keyway::Stream stream) override;
  bool query_event(void* event) const override;
  void synchronize_event(void* event) const override;
  double elapsed_time(void* start, void* end) const override;

  // The Queue.
  void* native_handle(keyway::Stream stream) const override { return &queue_of(stream); }

 private:
  Queue& queue_of(keyway::Stream stream) const;

  std::shared_ptr<Hardware> hardware_;
  std::atomic<unsigned> next_stream_{0};
};

}  // namespace accelerator
