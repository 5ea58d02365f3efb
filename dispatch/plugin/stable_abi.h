// Libraries that are built against the stable C ABI (stable/abi.h), among them the native ones in prebuilt wheels of
// PyTorch's extensions. Internal to dispatch/.
#pragma once

#include <keyway/dispatch/plugin/elf_image.h>

#include <string>

namespace keyway::inline v1 {

// Whether a library needs the functions of the ABI: it leaves some of them to others, or names a library of PyTorch's
// as needed. Requires: the image has no problem.
bool needs_stable_abi(const ElfImage& image);

// Opens libkeyway_torch_abi.so, which has the functions of the ABI, unless it is open, and leaves it open. It stands
// beside libkeyway.so. Throws keyway::Error(Registration) if it cannot be opened, or if PyTorch is in this process,
// whose functions have the same names; `what` and `path` name the library that needs it.
void open_stable_abi(const std::string& path, const char* what);

}  // namespace keyway::inline v1
