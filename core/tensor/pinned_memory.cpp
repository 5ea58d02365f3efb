#include <keyway/core/device/device_guard.h>
#include <keyway/core/device/held.h>
#include <keyway/core/tensor/pinned_memory.h>

namespace keyway::inline v1 {

TensorBase make_pinned_tensor(IntArrayRef sizes, IntArrayRef strides, ScalarType dtype, Device device,
                              DeviceType devices) {
  KEYWAY_CHECK(device.is_cpu(), "memory of {} cannot be pinned: only the CPU's can", device);
  (void)current_device(devices);  // throws if there is none
  const std::int64_t numel = checked_numel(sizes);
  const DimVector all = strides.empty() ? contiguous_strides(sizes) : DimVector(strides);
  const std::size_t bytes = checked_nbytes(sizes, all, 0, element_size(dtype));
  Storage storage(
      make_intrusive<StorageImpl>(allocate_held(Device(devices), ResourceKind::Pinned, bytes), bytes, true));
  storage.impl()->note_exposed();  // to devices: a copy in bytes of its own would not be pinned
  return TensorBase(make_intrusive<TensorImpl>(std::move(storage), dtype, sizes, all, numel, strides.empty()));
}

std::optional<DeviceType> pinned_for(const TensorBase& tensor) {
  for (int number = 0; number < kNumDeviceTypes; ++number) {
    const auto devices = static_cast<DeviceType>(number);
    if (devices != DeviceType::CPU && is_pinned(tensor, devices)) return devices;
  }
  return std::nullopt;
}

bool is_pinned(const TensorBase& tensor, DeviceType devices) {
  const void* const memory = tensor.storage().data();
  const Allocator* const allocator = find_allocator(devices);
  return tensor.is_cpu() && memory != nullptr && allocator != nullptr && allocator->is_pinned(memory);
}

}  // namespace keyway::inline v1
