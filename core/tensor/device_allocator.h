// DeviceAllocator: an allocator of devices that keeps freed memory for reuse, and what its users ask of it. The CPU's
// has functions of its own (host_allocator.h).
#pragma once

#include <keyway/core/device/allocator.h>
#include <keyway/core/device/memory_stats.h>
#include <keyway/core/device/stream.h>
#include <keyway/core/tensor/tensor_base.h>

namespace keyway::inline v1 {

// Thread-safe. `device` has already been checked: it is of this type, has an index and exists.
class KEYWAY_API DeviceAllocator : public Allocator {
 public:
  ~DeviceAllocator() override;
  virtual MemoryStats memory_stats(Device device) = 0;
  virtual void reset_peak_memory_stats(Device device) = 0;
  // Gives back what nobody uses, on all devices.
  virtual void empty_cache() = 0;
  // At most this part of a device's memory, in (0, 1].
  virtual void set_per_process_memory_fraction(double fraction, Device device) = 0;
  // Memory of `device` at `data` is used by work of `stream`, which may be one of another device. Memory that is not
  // the allocator's is ignored.
  virtual void record_stream(const void* data, Device device, Stream stream) = 0;
  // How much memory the device has. Throws keyway::Error(NotImplemented) where the backend does not say.
  virtual MemoryInfo get_memory_info(Device device);
};

// The allocator of a device type if it is a DeviceAllocator, else null; no backend is loaded for the question.
KEYWAY_API DeviceAllocator* find_device_allocator(DeviceType type);

// The functions that take a Device use the current one if it has no index. They throw keyway::Error as DeviceGuard
// does, and keyway::Error(NotImplemented) where the allocator of the device type keeps no memory.
KEYWAY_API MemoryStats memory_stats(Device device);
// Peaks begin anew from what is held now.
KEYWAY_API void reset_peak_memory_stats(Device device);
// Gives the devices what is kept for reuse and nobody uses. Waits for them. Errors: a graph is being captured.
KEYWAY_API void empty_cache(DeviceType type);
// Requests beyond this part of the device's memory, in (0, 1], are refused from now on, after what is kept was given
// back. Memory that is in use already stays.
KEYWAY_API void set_per_process_memory_fraction(double fraction, Device device);

// How much memory the device has, and how much of it no process uses; what is kept for reuse here counts as used.
KEYWAY_API MemoryInfo get_memory_info(Device device);

// Tells the allocator that work queued in `stream` uses this tensor's memory, though it was allocated for another
// stream. After it is freed it is not reused until the work queued in `stream` at that moment is done. Errors: the
// stream is of another device type.
KEYWAY_API void record_stream(const TensorBase& tensor, const Stream& stream);

}  // namespace keyway::inline v1
