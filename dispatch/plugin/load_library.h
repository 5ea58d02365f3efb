// load_library: shared libraries that register operators and kernels when they are loaded.
#pragma once

#include <keyway/core/base/macros.h>

#include <string>

namespace keyway::inline v1 {

// Loads a shared library for good: one whose KEYWAY_LIBRARY blocks register as it is loaded, one that registers by the
// stable C ABI (stable/abi.h), or a plug-in. All blocks are one transaction. Throws keyway::Error(Registration), which
// names the file and each problem, if it cannot be loaded or a block fails: then none of its blocks is registered, and
// the library is unloaded again, so that a mended one can take its place. A library that the system's loader loads
// (dlopen, a linked one) ends the process in that case: what its blocks throw has nobody to catch it. What
// keyway_add_ops makes registers by itself, and stays.
KEYWAY_API void load_library(const std::string& path);

}  // namespace keyway::inline v1
