// DeviceAllocator: an allocator of devices that keeps freed memory for reuse, and what its users ask of it. The CPU's
// has functions of its own (host_allocator.h).
#pragma once

#include <keyway/core/device/memory_stats.h>
#include <keyway/core/device/stream.h>
#include <keyway/core/tensor/tensor_base.h>

namespace keyway::inline v1 {

// Found behind the Allocator of a device type, by dynamic_cast. Thread-safe. Callers have checked that devices are of
// this type and that there are such.
class KEYWAY_API DeviceAllocator {
 public:
  virtual MemoryStats stats(Device device) = 0;
  virtual void reset_peaks(Device device) = 0;
  // Gives back what nobody uses, on all devices.
  virtual void empty_cache() = 0;
  // At most this part of a device's memory, in (0, 1].
  virtual void set_fraction(double fraction, Device device) = 0;
  // Memory of `device` at `data` is used by work of `stream`, which may be one of another device. Memory that is not
  // the allocator's is ignored.
  virtual void record_stream(const void* data, Device device, Stream stream) = 0;
  // How much memory the device has. Throws keyway::Error(NotImplemented) where the backend does not say.
  virtual MemoryInfo info(Device device);

 protected:
  virtual ~DeviceAllocator();
};

// These take the current device where `device` has no index. They throw keyway::Error as DeviceGuard does, and
// keyway::Error(NotImplemented) where the allocator of the device type keeps no memory.
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

// Work of `stream` uses the tensor's memory, which belongs to another stream, the one that was current when it was
// made: once freed, it is given out again only after what is in `stream` by then. Errors: the stream is of another
// device type.
KEYWAY_API void record_stream(const TensorBase& tensor, const Stream& stream);

}  // namespace keyway::inline v1
