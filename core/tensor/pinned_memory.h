// Pinned memory: memory of the CPU that stays in its place, so that a device copies from and to it by itself while the
// host goes on. What a copy uses is not given out again before the copy has come to its end.
#pragma once

#include <keyway/core/tensor/tensor_base.h>

#include <optional>

namespace keyway::inline v1 {

// A new uninitialised tensor on the CPU in memory that is pinned for devices of type `devices`; contiguous if `strides`
// is empty. Throws keyway::Error: `device` is another than the CPU, there is no such device to pin it for, or its
// backend has no pinned memory.
KEYWAY_API TensorBase make_pinned_tensor(IntArrayRef sizes, IntArrayRef strides, ScalarType dtype, Device device,
                                         DeviceType devices = DeviceType::CUDA);

// The devices that the memory of `tensor`, on the CPU, is pinned for; nothing if it is not, or has no elements. Loads
// no backend.
KEYWAY_API std::optional<DeviceType> pinned_for(const TensorBase& tensor);

// Whether `tensor` has elements, and they lie in memory of the CPU that is pinned for devices of type `devices`. Loads
// no backend: nothing is pinned for one that is not there.
KEYWAY_API bool is_pinned(const TensorBase& tensor, DeviceType devices = DeviceType::CUDA);

}  // namespace keyway::inline v1
