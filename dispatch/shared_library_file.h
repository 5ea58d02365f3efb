// Opening shared libraries, after a look at the file. Internal to dispatch/.
#pragma once

#include <memory>
#include <string>

namespace keyway::inline v1 {

// Why a file cannot be a shared library of this machine; empty if it may be one. The loader trusts the headers: what
// they promise and the file does not hold, the process dies of when it is touched.
std::string problem_of_shared_library(const std::string& path);

struct LibraryCloser {
  void operator()(void* library) const;
};
using OpenLibrary = std::unique_ptr<void, LibraryCloser>;

// Loads a library. The thread's floating-point mode stays as it was, with a warning, if the library changes it: one
// that is built for fast math takes numbers below the least normal one for zero, everywhere in the process. `what`
// names the library in errors: "plug-in". Throws keyway::Error(Registration).
OpenLibrary open_shared_library(const std::string& path, const char* what);

}  // namespace keyway::inline v1
