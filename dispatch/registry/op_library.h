// OpLibrary: the operators of a library out of tree whose entries and tables are constants, as the generator writes
// them.
#pragma once

#include <keyway/core/base/macros.h>
#include <keyway/dispatch/call/operator_entry.h>

namespace keyway::inline v1 {

// Makes them known when the library is loaded, for good: from then on it cannot be unloaded. Kernels and fallbacks that
// were registered before are taken into their tables.
class KEYWAY_API OpLibrary {
 public:
  // Throws keyway::Error(Registration) that lists every error; then none of them is known.
  explicit OpLibrary(const OpList& ops);
};

}  // namespace keyway::inline v1
