// In the place of the backend's own: the emulated device has two libraries, cuBLASLt and cuDNN, unless
// KEYWAY_EMULATED_CUBLAS_LT=missing or KEYWAY_EMULATED_CUDNN=missing takes one away.
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

namespace keyway::inline v1::cuda {

// A function of an emulated library; null if it has none of that name.
void* emulated_cublas_lt(const char* name);
void* emulated_cudnn(const char* name);

class SharedLibrary {
 public:
  explicit SharedLibrary(const char* file) {
    if (std::string_view(file) == "libcublasLt.so.13" && !is_missing("KEYWAY_EMULATED_CUBLAS_LT")) {
      find_ = &emulated_cublas_lt;
    } else if (std::string_view(file) == "libcudnn.so.9" && !is_missing("KEYWAY_EMULATED_CUDNN")) {
      find_ = &emulated_cudnn;
    } else {
      problem_ = std::string(file) + ": there is no such file";
    }
  }

  const std::string& problem() const { return problem_; }
  void* find(const char* name) const { return find_(name); }

 private:
  static bool is_missing(const char* variable) {
    const char* const wish = std::getenv(variable);
    return wish != nullptr && std::string_view(wish) == "missing";
  }

  void* (*find_)(const char* name) = nullptr;
  std::string problem_;
};

}  // namespace keyway::inline v1::cuda
