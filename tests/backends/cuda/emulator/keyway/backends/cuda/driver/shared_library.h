// In the place of the backend's own: the libraries of the emulated device. KEYWAY_EMULATED_CUBLAS_LT=missing,
// KEYWAY_EMULATED_CUDNN=missing, KEYWAY_EMULATED_CUFFT=missing and KEYWAY_EMULATED_CUSOLVER=missing take one away.
#pragma once

#include <keyway/core/base/shared_library.h>

#include <cstdlib>
#include <string>
#include <string_view>

namespace keyway::inline v1::cuda {

// A function of an emulated library; null if it has none of that name.
void* emulated_cublas_lt(const char* name);
void* emulated_cudnn(const char* name);
void* emulated_cufft(const char* name);
void* emulated_cusolver(const char* name);

class ToolkitLibrary {
 public:
  explicit ToolkitLibrary(const char* file) {
    for (const Emulated& one : kEmulated) {
      if (file == one.file && !is_missing(one.state)) find_ = one.find;
    }
    if (find_ == nullptr) problem_ = std::string(file) + ": there is no such file";
  }

  const std::string& problem() const { return problem_; }
  void* find(const char* name) const { return find_(name); }

 private:
  using Find = void* (*)(const char* name);
  struct Emulated {
    std::string_view file;
    const char* state;  // the variable that may take it away
    Find find;
  };
  static constexpr Emulated kEmulated[] = {
      {"libcublasLt.so.13", "KEYWAY_EMULATED_CUBLAS_LT", &emulated_cublas_lt},
      {"libcudnn.so.9", "KEYWAY_EMULATED_CUDNN", &emulated_cudnn},
      {"libcufft.so.12", "KEYWAY_EMULATED_CUFFT", &emulated_cufft},
      {"libcusolver.so.12", "KEYWAY_EMULATED_CUSOLVER", &emulated_cusolver},
  };
  static bool is_missing(const char* state) {
    const char* const wish = std::getenv(state);
    return wish != nullptr && std::string_view(wish) == "missing";
  }

  Find find_ = nullptr;
  std::string problem_;
};

}  // namespace keyway::inline v1::cuda
