// AtomicFile: writes a file so that whoever opens its name, at any time, sees the old file or the whole new one: also
// after a crash, a kill or a loss of power.
#pragma once

#include <keyway/core/base/macros.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace keyway::inline v1::nn {

// The bytes go to a new file beside the target, which takes its name when they are safe on disk. The target of a
// symbolic link is what it leads to, and the link stays. Pipes and devices cannot be replaced: they are written to as
// the bytes come. Errors of the system are FileErrors (file_error.h). A killed writer leaves its `<target>.<id>.tmp`
// behind.
class KEYWAY_API AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  // Without commit() a file is as it was; what a pipe or a device got stays there.
  ~AtomicFile();

  void write(std::string_view bytes);
  void commit();

 private:
  [[noreturn]] void fail(const char* what, int error) const;

  std::string path_;       // as the caller gave it
  std::string target_;     // what the links of path_ lead to
  std::string temporary_;  // empty if the target itself is written to
  int file_ = -1;
};

}  // namespace keyway::inline v1::nn
