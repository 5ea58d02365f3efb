// Kernels of operators that were never defined.
#pragma once

#include <keyway/core/base/macros.h>

#include <string>
#include <vector>

namespace keyway::inline v1 {

// What Dispatcher::warn_of_dangling_impls() would say, a line each; it says nothing then. For a language whose own
// warnings are gone when the process ends.
KEYWAY_API std::vector<std::string> take_dangling_warnings();

}  // namespace keyway::inline v1
