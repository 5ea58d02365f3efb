// LibraryFunctions: looks up the functions of a library that is opened by name. Internal to backends/cuda.
#pragma once

#include <keyway/backends/cuda/driver/shared_library.h>

#include <string>
#include <utility>

namespace keyway::inline v1::cuda {

class LibraryFunctions {
 public:
  explicit LibraryFunctions(std::string file)
      : file_(std::move(file)), library_(file_.c_str()), problem_(library_.problem()) {}

  bool is_open() const { return library_.problem().empty(); }
  // Why not all functions are there; empty if they are.
  const std::string& problem() const { return problem_; }

  template <typename F>
  void find(const char* name, F*& function) {
    if (!is_open()) return;
    function = reinterpret_cast<F*>(library_.find(name));
    if (function == nullptr && problem_.empty()) problem_ = file_ + " has no " + name;
  }

 private:
  const std::string file_;
  const SharedLibrary library_;
  std::string problem_;
};

}  // namespace keyway::inline v1::cuda
