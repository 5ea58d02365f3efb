#include <keyway/nn/serialize/atomic_file.h>
#include <keyway/nn/serialize/file_error.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace keyway::inline v1::nn {

namespace {

constexpr int kAttempts = 100;
constexpr int kMaxLinks = 40;  // as Linux follows

// A name that no other writer of this machine uses now.
std::string temporary_name(const std::string& path) {
  static std::atomic<unsigned> count{0};
  return path + "." + std::to_string(getpid()) + "-" + std::to_string(count++) + ".tmp";
}

// Makes a rename survive a loss of power. File systems that cannot are none of the caller's business.
void sync_folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return;
  ::fsync(file);
  ::close(file);
}

// The name at the end of a chain of symbolic links, which need not exist yet. A ring of links gives one of its links.
std::string end_of_links(const std::string& path) {
  std::filesystem::path end = path;
  std::error_code error;
  for (int i = 0; i < kMaxLinks && std::filesystem::is_symlink(end, error); ++i) {
    const std::filesystem::path next = std::filesystem::read_symlink(end, error);
    if (error) break;
    end = end.parent_path() / next;  // an absolute one stands for itself
  }
  return end.string();
}

}  // namespace

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  struct stat old {};
  if (::stat(path_.c_str(), &old) == 0) {
    if (!S_ISREG(old.st_mode)) {
      while (file_ < 0) {
        file_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
        if (file_ < 0 && errno != EINTR) fail("open", errno);
      }
      return;
    }
  } else if (errno == ELOOP) {
    fail("create", errno);
  }
  target_ = end_of_links(path_);
  for (int i = 0; file_ < 0; ++i) {
    temporary_ = temporary_name(target_);
    file_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file_ < 0 && (errno != EEXIST || i == kAttempts)) fail("create", errno);
  }
}

AtomicFile::~AtomicFile() {
  if (file_ >= 0) ::close(file_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      fail("write", errno);
    }
  }
}

void AtomicFile::commit() {
  const bool replaces = !temporary_.empty();
  if (replaces) {
    struct stat old {};
    if (::stat(target_.c_str(), &old) == 0) ::fchmod(file_, old.st_mode & 07777);  // the name keeps its permissions
    if (::fsync(file_) != 0) fail("write", errno);
  }
  const int file = std::exchange(file_, -1);
  if (::close(file) != 0) fail("write", errno);
  if (!replaces) return;
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) fail("replace", errno);
  temporary_.clear();
  sync_folder_of(target_);
}

void AtomicFile::fail(const char* what, int error) const {
  const std::string text = std::string("cannot ") + what + " " + path_ + ": " + std::strerror(error);
  throw FileError(text, path_, error, __FILE__, __LINE__);
}

}  // namespace keyway::inline v1::nn
