// The fallback at CopyOnWrite: what a call writes to gets bytes of its own first (core/tensor/copy_on_write.h).
#pragma once

#include <keyway/core/base/macros.h>

namespace keyway::inline v1 {

// Registers it, once and for good: before bytes are first shared. Operators that write to no argument skip the key.
KEYWAY_API void register_copy_on_write();

}  // namespace keyway::inline v1
