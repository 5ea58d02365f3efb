// AtomicFile: writes a file so that whoever opens its name, at any time, sees the old file or the whole new one: also
// after a crash, a kill or a loss of power.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace keyway::inline v1::nn {

// The bytes go to a new file beside the target, which takes its name when they are safe on disk. Errors of the system
// are FileErrors (file_error.h). A killed writer leaves its `<path>.<id>.tmp` behind.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  // Without commit() the target is as it was.
  ~AtomicFile();

  void write(std::string_view bytes);
  void commit();

 private:
  [[noreturn]] void fail(const char* what, int error) const;

  std::string path_;
  std::string temporary_;
  int file_ = -1;
};

}  // namespace keyway::inline v1::nn
