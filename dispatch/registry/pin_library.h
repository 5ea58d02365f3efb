// Keeps a shared library mapped whose code may be called as long as the process runs. Internal to the library.
#pragma once

namespace keyway::inline v1 {

// The shared library that holds an address stays mapped, whoever closes it.
void pin_library_of(const void* address) noexcept;

}  // namespace keyway::inline v1
