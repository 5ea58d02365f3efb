// What a call is resolved by, for people who write backends in Python: DispatchKey, DispatchKeySet, and
// the guards that add keys to a thread's calls or take them away.
#pragma once

#include <keyway/core/keys/dispatch_key_set.h>
#include <keyway/python/nanobind.h>

namespace keyway::inline v1::python {

// The class of a key: nanobind takes an enumeration for one of Python's.
struct DispatchKeyObject {
  DispatchKey key;
  bool operator==(const DispatchKeyObject&) const = default;
};

// The key that a DispatchKey or its name stands for. Throws keyway::Error for a name that is none, or another type.
DispatchKey dispatch_key_in(nb::handle object);

}  // namespace keyway::inline v1::python
