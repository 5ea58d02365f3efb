// Which CUDA devices there are, and which is current.
#pragma once

#include <keyway/core/device/device_guard.h>

#include <c10/cuda/CUDAStream.h>

namespace c10::cuda {
inline std::int8_t device_count() { return static_cast<std::int8_t>(keyway::device_count(DeviceType::CUDA)); }
inline std::int8_t current_device() { return keyway::current_device(DeviceType::CUDA).index(); }
inline void set_device(std::int8_t device) { keyway::set_device(Device(DeviceType::CUDA, device)); }
inline void device_synchronize() { keyway::synchronize(keyway::current_device(DeviceType::CUDA)); }
}  // namespace c10::cuda
