// Opening shared libraries, after a look at the file. Internal to dispatch/.
#pragma once

#include <memory>
#include <string>

namespace keyway::inline v1 {

// While it lives, an exit() that this thread calls writes which library ended the program. What _exit() or a signal
// ends goes without a word.
class ExitNotice {
 public:
  // Requires: both outlive it.
  ExitNotice(const char* what, const std::string& path);
  ~ExitNotice();
  ExitNotice(const ExitNotice&) = delete;
  ExitNotice& operator=(const ExitNotice&) = delete;

 private:
  const char* outer_;
  const char* outer_what_;
};

struct LibraryCloser {
  void operator()(void* library) const;
};
using OpenLibrary = std::unique_ptr<void, LibraryCloser>;

// Loads a library, after a look at its tables (elf_image.h), and before it the stable C ABI if it needs that. The
// thread's floating-point mode stays as it was, with a warning, if the library changes it: one that is built for fast
// math takes numbers below the least normal one for zero, everywhere in the process. `what` names the library in
// errors: "plug-in". Throws keyway::Error(Registration).
OpenLibrary open_shared_library(const std::string& path, const char* what);

}  // namespace keyway::inline v1
