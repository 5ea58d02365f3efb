// Kernels of libraries that are built against the ABI, as boxed kernels of the registry.
#pragma once

#include <keyway/dispatch/call/user_kernel.h>
#include <keyway/stable/abi.h>

namespace keyway::inline v1 {
class LibraryResources;
}

namespace keyway::inline v1::abi {

// A kernel that calls `function` with slots.
AnyKernel kernel_of(KeywayKernel function);

// What the kernel that is running on this thread came with: null if there is none, or if its library stays loaded.
LibraryResources* library_of_running_kernel() noexcept;

}  // namespace keyway::inline v1::abi
