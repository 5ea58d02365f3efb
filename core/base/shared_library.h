// SharedLibrary and LibraryFunctions: a library of others that is opened by name when it is first needed, so that
// Keyway loads where it is not installed.
#pragma once

#include <dlfcn.h>
#include <string>
#include <utility>

namespace keyway::inline v1 {

// Open as long as the process: a library that has been used is not unloaded.
class SharedLibrary {
 public:
  explicit SharedLibrary(const char* file) : handle_(dlopen(file, RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) problem_ = error();
  }

  // Why it could not be opened; empty if it was.
  const std::string& problem() const { return problem_; }
  // Null if neither it nor a library that it needs has such a function. Requires: it is open.
  void* find(const char* name) const { return dlsym(handle_, name); }

 private:
  static std::string error() {
    const char* const text = dlerror();
    return text == nullptr ? "it cannot be opened" : text;
  }

  void* handle_;
  std::string problem_;
};

// Looks up the functions of a library. `Library` is a SharedLibrary, or what stands in its place in a test.
template <typename Library = SharedLibrary>
class LibraryFunctions {
 public:
  struct Found {
    void (*function)();
    template <typename F>
    operator F*() const {
      return reinterpret_cast<F*>(function);
    }
  };

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
  // The same, of the type that it is used as: `int (*const add)(int, int) = library.find("add");`
  Found find(const char* name) {
    void (*function)() = nullptr;
    find(name, function);
    return {function};
  }
  // The same of one that not all such libraries have: null is no problem.
  template <typename F>
  F* find_if_there(const char* name) const {
    return is_open() ? reinterpret_cast<F*>(library_.find(name)) : nullptr;
  }

 private:
  const std::string file_;
  const Library library_;
  std::string problem_;
};

}  // namespace keyway::inline v1
