// EventFile: a file that events are appended to, for readers that look at it while it grows.
#pragma once

#include <keyway/nn/tensorboard/event_records.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

namespace keyway::inline v1::nn {

// Errors of the system are FileErrors (nn/serialize/file_error.h).
class EventFile {
 public:
  // A new file in the folder, which is made; it begins with the version of the format, and the step, if there is one.
  // Events are kept until there are `most` or the oldest is `seconds` old when another comes.
  EventFile(const std::string& folder, const std::string& suffix, std::size_t most, double seconds,
            std::optional<std::int64_t> step);
  EventFile(const EventFile&) = delete;
  EventFile& operator=(const EventFile&) = delete;
  // Writes what is kept; errors are lost.
  ~EventFile();

  // Seconds since 1970; `content` is the rest of the event's fields.
  void add(const Message& content, std::optional<std::int64_t> step, std::optional<double> walltime);
  void flush();

 private:
  using Clock = std::chrono::steady_clock;

  std::string path_;
  int file_ = -1;
  std::size_t most_;
  Clock::duration patience_;
  std::string kept_;
  std::size_t count_ = 0;  // of events in it
  Clock::time_point flushed_;
};

}  // namespace keyway::inline v1::nn
