// In the place of the backend's own: the emulated device has one library, cuBLASLt, unless
// KEYWAY_EMULATED_CUBLAS_LT=missing takes it away.
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

namespace keyway::inline v1::cuda {

// A function of the emulated cuBLASLt; null if it has none of that name.
void* emulated_cublas_lt(const char* name);

class SharedLibrary {
 public:
  explicit SharedLibrary(const char* file) {
    const char* const wish = std::getenv("KEYWAY_EMULATED_CUBLAS_LT");
    const bool missing = wish != nullptr && std::string_view(wish) == "missing";
    if (missing || std::string_view(file) != "libcublasLt.so.13")
      problem_ = std::string(file) + ": there is no such file";
  }

  const std::string& problem() const { return problem_; }
  void* find(const char* name) const { return emulated_cublas_lt(name); }

 private:
  std::string problem_;
};

}  // namespace keyway::inline v1::cuda
