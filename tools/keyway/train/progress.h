// Progress: how far a run is: a bar that redraws itself on a terminal, a line now and then elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

namespace keyway::inline v1::tools {

class Progress {
 public:
  Progress(std::FILE* output, std::int64_t total);
  // Ends the bar's line.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Shows that `done` are done, with `facts` about the latest: often on a terminal, at each twentieth elsewhere.
  void show(std::int64_t done, const std::string& facts);

 private:
  void show_bar(std::int64_t done, const std::string& facts);
  std::string remaining(std::int64_t done) const;

  using Clock = std::chrono::steady_clock;
  std::FILE* output_;
  std::int64_t total_;
  bool is_terminal_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point shown_;
  bool bar_is_open_ = false;
};

}  // namespace keyway::inline v1::tools
