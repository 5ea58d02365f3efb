// Calls that a thread has deferred (graph/deferred.h), for code below the graphs that must not overtake them. A tensor
// whose call is deferred has the key Functionalize, and its data_ptr() is null.
#pragma once

#include <keyway/core/base/macros.h>

namespace keyway::inline v1 {

class TensorBase;

// For what is about to use the memory of a tensor by its address: has the deferred calls made that it waits for, if
// there are any. data_ptr<T>() does so by itself.
KEYWAY_API void make_calls_pending_for(const TensorBase& tensor);
// Has all made that this thread has deferred: before an event is recorded, say. Both throw what the calls throw.
KEYWAY_API void make_pending_calls(const char* why);

// What does so: handed down by graph, for good, before a call is deferred.
struct PendingCalls {
  void (*make_for)(const TensorBase& tensor);
  void (*make)(const char* why);
};
KEYWAY_API void set_pending_calls(const PendingCalls* calls);

}  // namespace keyway::inline v1
