#include <keyway/core/base/error.h>
#include <keyway/core/device/device_guard.h>
#include <keyway/core/tensor/device_allocator.h>

namespace keyway::inline v1 {

DeviceAllocator::~DeviceAllocator() = default;

MemoryInfo DeviceAllocator::get_memory_info(Device device) {
  KEYWAY_FAIL(NotImplemented, "get_memory_info: the backend of {} does not say how much memory it has", device);
}

DeviceAllocator* find_device_allocator(DeviceType type) { return dynamic_cast<DeviceAllocator*>(find_allocator(type)); }

namespace {

Device checked(Device device) { return detail::checked_device(device_guard_impl(device.type()), device); }

DeviceAllocator& device_allocator_of(DeviceType type) {
  auto* const allocator = dynamic_cast<DeviceAllocator*>(&get_allocator(type));
  KEYWAY_CHECK_AS(NotImplemented, allocator != nullptr, "the allocator of device type {} keeps no memory for reuse{}",
                  type, type == DeviceType::CPU ? " in streams: ask host_memory_stats() and empty_host_cache()" : "");
  return *allocator;
}

}  // namespace

MemoryStats memory_stats(Device device) {
  const Device which = checked(device);
  return device_allocator_of(which.type()).memory_stats(which);
}

void reset_peak_memory_stats(Device device) {
  const Device which = checked(device);
  device_allocator_of(which.type()).reset_peak_memory_stats(which);
}

void empty_cache(DeviceType type) {
  (void)checked(type);
  device_allocator_of(type).empty_cache();
}

void set_per_process_memory_fraction(double fraction, Device device) {
  const Device which = checked(device);
  device_allocator_of(which.type()).set_per_process_memory_fraction(fraction, which);
}

MemoryInfo get_memory_info(Device device) {
  const Device which = checked(device);
  return device_allocator_of(which.type()).get_memory_info(which);
}

void record_stream(const TensorBase& tensor, const Stream& stream) {
  KEYWAY_CHECK(tensor.defined(), "record_stream: the tensor is undefined");
  const Device device = tensor.device();
  KEYWAY_CHECK(stream.device_type() == device.type(), "record_stream: the {} does not use memory of {}", stream,
               device);
  (void)checked(stream.device());
  DeviceAllocator& allocator = device_allocator_of(device.type());
  if (const void* const data = tensor.storage().data()) allocator.record_stream(data, device, stream);
}

}  // namespace keyway::inline v1
