// Code that is called as long as the process runs. Internal to the library.
#pragma once

namespace keyway::inline v1 {

// Whoever unloads the shared library that holds an address, it stays mapped.
void keep_code(const void* address) noexcept;

}  // namespace keyway::inline v1
