// GraphImplInterface: what a backend implements so that work of its devices can be captured and replayed.
#pragma once

#include <keyway/core/base/macros.h>

#include <cstdint>

namespace keyway::inline v1 {

// Memory that only graphs use. 0 names none.
using MempoolId = std::uint64_t;

// One graph. Not for several threads at a time. Goes with what it holds, also in the middle of a capture.
class KEYWAY_API GraphImplInterface {
 public:
  virtual ~GraphImplInterface();
  // From now on the current stream of the current device writes down what is queued there instead of doing it. Tensors
  // that are made meanwhile have their memory from `pool`, or from a new one.
  virtual void capture_begin(MempoolId pool) = 0;
  // From the thread that began. Throws if anything was refused meanwhile; the graph is empty then.
  virtual void capture_end() = 0;
  // Queues all of it in the current stream.
  virtual void replay() = 0;
  virtual MempoolId pool() const = 0;
};

}  // namespace keyway::inline v1
