// Refusals: what kernels found wrong with the data they were given. A kernel does not stop for that: it notes it in
// memory that device and host share, one place for each stream, and the next synchronisation with the stream throws it.
// Internal to backends/cuda.
#pragma once

#include <keyway/core/stream.h>

namespace keyway::inline v1::cuda {

// A reason to refuse an element, and the operator that has it. Kept as long as the process.
struct Refusal {
  const char* op;
  const char* reason;
};

// Where kernels of a stream note the address of a Refusal. The device writes, and the host reads and clears it. Graphs
// of a device, which may be replayed in any stream, have one place: what is found there is thrown by the next
// synchronisation with any stream of the device.
using RefusalSlot = const Refusal* volatile;
RefusalSlot* refusal_slot(Stream stream);

// The one of this operator and reason, of which there are few.
const Refusal* refusal(const char* op, const char* reason);

// Throws keyway::Error(Value) for what has been noted since this was last called: by kernels of the stream, or of all
// streams of the device. Requires: they have come to their end.
void throw_refused(Stream stream);
void throw_refused(Device device);

}  // namespace keyway::inline v1::cuda
