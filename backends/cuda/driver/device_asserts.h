// Device-side assertions: what kernels found wrong with the data they were given. A kernel does not stop for that: it
// notes it in memory that device and host share, one slot for each stream, and the next synchronisation with the
// stream throws it. Internal to backends/cuda.
#pragma once

#include <keyway/core/device/stream.h>

namespace keyway::inline v1::cuda {

// A reason to refuse an element, and the operator that has it. Kept as long as the process.
struct DeviceAssert {
  const char* op;
  const char* reason;
};

// Where kernels of a stream note the address of a DeviceAssert. The device writes, and the host reads and clears it.
// Graphs of a device, which may be replayed in any stream, have one slot: what is found there is thrown by the next
// synchronisation with any stream of the device.
using DeviceAssertSlot = const DeviceAssert* volatile;
DeviceAssertSlot* device_assert_slot(Stream stream);

// The one of this operator and reason, of which there are few.
const DeviceAssert* device_assert(const char* op, const char* reason);

// Throws keyway::Error(Value) for what has been noted since this was last called: by kernels of the stream, or of all
// streams of the device. Requires: they have come to their end.
void throw_device_asserts(Stream stream);
void throw_device_asserts(Device device);

}  // namespace keyway::inline v1::cuda
