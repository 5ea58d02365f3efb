#include <keyway/nn/serialize/file_error.h>
#include <keyway/nn/tensorboard/event_file.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <system_error>
#include <unistd.h>

namespace keyway::inline v1::nn {

namespace {

// Fields of the message Event.
constexpr unsigned kWallTime = 1;
constexpr unsigned kStep = 2;
constexpr unsigned kFileVersion = 3;

[[noreturn]] void fail(const char* what, const std::string& path, int number) {
  throw FileError(std::string("SummaryWriter: cannot ") + what + " '" + path + "': " + std::strerror(number), path,
                  number, __FILE__, __LINE__);
}

double now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

// As TensorBoard expects it; no two files of a process have one name.
std::string file_name(const std::string& suffix) {
  static std::atomic<unsigned> files{0};
  char host[256] = "localhost";
  gethostname(host, sizeof host - 1);
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%010lld", static_cast<long long>(now()));
  return std::string("events.out.tfevents.") + seconds + "." + host + "." + std::to_string(getpid()) + "." +
         std::to_string(files++) + suffix;
}

}  // namespace

EventFile::EventFile(const std::string& folder, const std::string& suffix, std::size_t most, double seconds,
                     std::optional<std::int64_t> step)
    : path_((std::filesystem::path(folder) / file_name(suffix)).string()),
      most_(most),
      patience_(std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))),
      flushed_(Clock::now()) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail("make the folder", folder, error.value());
  file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
  if (file_ < 0) fail("open", path_, errno);
  Message version;
  version.text(kFileVersion, "brain.Event:2");
  add(version, step, std::nullopt);
}

EventFile::~EventFile() {
  try {
    flush();
  } catch (const FileError&) {
  }
  ::close(file_);
}

void EventFile::add(const Message& content, std::optional<std::int64_t> step, std::optional<double> walltime) {
  Message event;
  event.number(kWallTime, walltime.value_or(now())).integer(kStep, step.value_or(0));
  kept_ += framed(std::string(event.bytes()) += content.bytes());
  if (++count_ > most_ || Clock::now() - flushed_ >= patience_) flush();
}

void EventFile::flush() {
  flushed_ = Clock::now();
  count_ = 0;
  std::string_view rest = kept_;
  while (!rest.empty()) {
    const ::ssize_t written = ::write(file_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const int number = errno;
      kept_.erase(0, kept_.size() - rest.size());
      fail("write to", path_, number);
    }
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  kept_.clear();
}

}  // namespace keyway::inline v1::nn
