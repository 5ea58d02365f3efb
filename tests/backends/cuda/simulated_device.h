// SimulatedDevice: a device of the test's own.
#pragma once

#include <keyway/backends/cuda/device_memory.h>
#include <keyway/tests/backends/cuda/simulated_streams.h>

namespace keyway::inline v1::testing {

class SimulatedDevice final : public SimulatedStreams<cuda::DeviceMemory> {
 public:
  using SimulatedStreams::SimulatedStreams;

  Device device() const noexcept override { return Device(kCUDA, 0); }
  // Waits for all work, as a device does.
  void free(void* memory) noexcept override {
    check_not_captured();
    work_all();
    SimulatedStreams::free(memory);
  }
  MemoryInfo room() const override { return {total_ - taken(), total_}; }

  void* record(Stream stream) override {
    check_not_captured();
    return SimulatedStreams::record(stream);
  }
  bool is_done(void* event) override {
    check_not_captured();
    return SimulatedStreams::is_done(event);
  }
  void wait(void* event) override {
    check_not_captured();
    SimulatedStreams::wait(event);
  }

  int captures = 0;  // streams that are captured now
  int spoiled = 0;   // calls that a capture forbids

 private:
  void check_not_captured() noexcept { spoiled += captures > 0 ? 1 : 0; }
};

}  // namespace keyway::inline v1::testing
