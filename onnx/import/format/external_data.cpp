#include <keyway/core/base/error.h>
#include <keyway/onnx/import/format/external_data.h>
#include <keyway/onnx/import/format/message.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace keyway::inline v1::onnx {

namespace {

// A file descriptor that is closed at the end.
struct Descriptor {
  int number;
  explicit Descriptor(int opened) : number(opened) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
  void reset(int opened) {
    if (number >= 0) ::close(number);
    number = opened;
  }
  int release() { return std::exchange(number, -1); }
};

}  // namespace

// Opened without waiting, since to open a pipe waits for who writes to it.
ExternalData::File::File(int file, std::string path) : file_(file), path_(std::move(path)) {
  struct stat status {};
  const bool is_file = ::fstat(file_, &status) == 0 && S_ISREG(status.st_mode);
  if (is_file) {
    size_ = static_cast<std::uint64_t>(status.st_size);
    return;
  }
  ::close(file_);
  KEYWAY_FAIL(Value, "cannot read {}: it is no regular file", path_);
}

ExternalData::File::~File() { ::close(file_); }

void ExternalData::File::read(void* to, std::uint64_t bytes, std::uint64_t offset) const {
  constexpr std::uint64_t kMost = 1 << 30;  // of one call
  auto* out = static_cast<char*>(to);
  while (bytes != 0) {
    const ssize_t got = ::pread(file_, out, std::min(bytes, kMost), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    KEYWAY_CHECK(got >= 0, "cannot read {}: {}", path_, std::string(std::strerror(errno)));
    KEYWAY_CHECK_AS(Parse, got != 0, "cannot read {}: it became shorter meanwhile", path_);
    out += got;
    offset += static_cast<std::uint64_t>(got);
    bytes -= static_cast<std::uint64_t>(got);
  }
}

ExternalData::File ExternalData::open(std::string_view location) const {
  KEYWAY_CHECK_AS(Parse, folder_.has_value(),
                  "external data lies in '{}', but a model of bytes has no folder: load it from its file",
                  shown(location));
  const std::string path(location);
  const auto check = [&](bool holds, std::string_view rule) {
    KEYWAY_CHECK_AS(Parse, holds, "external data must not lie in '{}': {}", shown(location), rule);
  };
  check(!path.empty() && path.front() != '/', "the path must be relative to the model's folder");
  check(path.find('\0') == path.npos && path.find('\\') == path.npos, "the path has a character that it must not have");
  Descriptor at(::open(folder_->empty() ? "." : folder_->c_str(), O_RDONLY | O_CLOEXEC | O_DIRECTORY));
  std::string_view rest = path;
  while (!rest.empty()) {
    const std::string part(rest.substr(0, rest.find('/')));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    check(part != "..", "the path must not leave the model's folder");
    if (part.empty() || part == ".") continue;
    const int kind = rest.empty() ? O_NONBLOCK : O_DIRECTORY;
    at.reset(::openat(at.number, part.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | kind));
    const int why = errno;
    check(at.number >= 0 || why != ELOOP, "a part of the path is a link");
    KEYWAY_CHECK(at.number >= 0, "cannot open '{}', where external data lies: {}", shown(location),
                 std::string(std::strerror(why)));
  }
  return {at.release(), path};
}

std::string ExternalData::read_file(const std::string& path) {
  const int opened = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  KEYWAY_CHECK(opened >= 0, "cannot open {}: {}", path, std::string(std::strerror(errno)));
  const File file(opened, path);
  std::string bytes(file.size(), '\0');
  file.read(bytes.data(), bytes.size(), 0);
  return bytes;
}

}  // namespace keyway::inline v1::onnx
