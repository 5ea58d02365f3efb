// Keeps a shared library mapped whose code may be called as long as the process runs. Internal to the libraries of the
// tree.
#pragma once

#include <keyway/core/base/macros.h>

namespace keyway::inline v1 {

// The shared library that holds an address stays mapped, whoever closes it.
KEYWAY_API void pin_library_of(const void* address) noexcept;

}  // namespace keyway::inline v1
