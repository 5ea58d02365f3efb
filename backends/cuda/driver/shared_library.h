// SharedLibrary: a library that is opened when it is first needed, so that the backend loads where it is not installed.
// A header of its own, so that the tests' emulated device can have another one in its place. Internal to backends/cuda.
#pragma once

#include <dlfcn.h>
#include <string>

namespace keyway::inline v1::cuda {

// Open as long as the process: a library that has been used is not unloaded.
class SharedLibrary {
 public:
  explicit SharedLibrary(const char* file) : handle_(dlopen(file, RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) problem_ = error();
  }

  // Why it could not be opened; empty if it was.
  const std::string& problem() const { return problem_; }
  // Null if it has no such function. Requires: it is open.
  void* find(const char* name) const { return dlsym(handle_, name); }

 private:
  static std::string error() {
    const char* const text = dlerror();
    return text == nullptr ? "it cannot be opened" : text;
  }

  void* handle_;
  std::string problem_;
};

}  // namespace keyway::inline v1::cuda
