// A look at a shared library before the loader maps it. Internal to dispatch/.
#pragma once

#include <string>

namespace keyway::inline v1 {

// Why a file cannot be a shared library of this machine; empty if it may be one. The loader trusts the headers: what
// they promise and the file does not hold, the process dies of when it is touched.
std::string problem_of_shared_library(const std::string& path);

}  // namespace keyway::inline v1
