// What makes a CUDA device or stream current for a time.
#pragma once

#include <c10/cuda/CUDAFunctions.h>
#include <optional>

namespace c10::cuda {

class CUDAGuard : public DeviceGuard {
 public:
  explicit CUDAGuard(std::int8_t index) : CUDAGuard(Device(DeviceType::CUDA, index)) {}
  explicit CUDAGuard(Device device) : DeviceGuard(checked(device)) {}
  void set_device(Device device) { reset_device(checked(device)); }

 private:
  static Device checked(Device device) {
    TORCH_CHECK(device.is_cuda(), "a CUDAGuard of ", to_string(device));
    return device;
  }
};

// Of the device of a tensor that may lie elsewhere, too: then, as without a device, nothing happens.
class OptionalCUDAGuard : public OptionalDeviceGuard {
 public:
  OptionalCUDAGuard() = default;
  explicit OptionalCUDAGuard(std::optional<Device> device) : OptionalDeviceGuard(device) {}
  explicit OptionalCUDAGuard(std::optional<std::int8_t> index)
      : OptionalDeviceGuard(index ? std::optional(Device(DeviceType::CUDA, *index)) : std::nullopt) {}
  void set_device(Device device) { reset_device(device); }
  void set_index(std::int8_t index) { reset_device(Device(DeviceType::CUDA, index)); }
};

class CUDAStreamGuard : public StreamGuard {
 public:
  explicit CUDAStreamGuard(Stream stream) : StreamGuard(CUDAStream(stream).unwrap()) {}
};

}  // namespace c10::cuda
