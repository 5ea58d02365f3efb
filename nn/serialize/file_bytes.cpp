#include <keyway/core/base/error.h>
#include <keyway/nn/serialize/file_bytes.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace keyway::inline v1::nn {

// Not waiting, since to open a pipe waits for who writes to it.
FileBytes::FileBytes(std::string path)
    : path_(std::move(path)), file_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  if (file_ < 0) fail("open");
  struct stat status {};
  const bool known = ::fstat(file_, &status) == 0;
  if (known && S_ISREG(status.st_mode)) {
    size_ = static_cast<std::uint64_t>(status.st_size);
    return;
  }
  ::close(file_);
  KEYWAY_FAIL(Value, "cannot read {}: it is no regular file", path_);
}

FileBytes::~FileBytes() { ::close(file_); }

void FileBytes::read(void* to, std::uint64_t bytes, std::uint64_t offset) const {
  constexpr std::uint64_t kMost = 1 << 30;  // of one call
  auto* out = static_cast<char*>(to);
  while (bytes != 0) {
    const ssize_t got = ::pread(file_, out, std::min(bytes, kMost), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("read");
    KEYWAY_CHECK_AS(Parse, got != 0, "cannot read {}: it became shorter meanwhile", path_);
    out += got;
    offset += static_cast<std::uint64_t>(got);
    bytes -= static_cast<std::uint64_t>(got);
  }
}

std::shared_ptr<char> FileBytes::map() const {
  if (size_ == 0) return {};
  void* memory = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE, file_, 0);
  if (memory == MAP_FAILED) fail("map");
  return {static_cast<char*>(memory), [size = size_](char* start) { ::munmap(start, size); }};
}

void FileBytes::fail(const char* what) const {
  KEYWAY_FAIL(Value, "cannot {} {}: {}", what, path_, std::strerror(errno));
}

}  // namespace keyway::inline v1::nn
