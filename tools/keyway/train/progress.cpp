#include <keyway/tools/keyway/terminal.h>
#include <keyway/tools/keyway/train/progress.h>

#include <fmt/format.h>

namespace keyway::inline v1::tools {

Progress::Progress(std::FILE* output, std::int64_t total)
    : output_(output), total_(total), is_terminal_(is_terminal(output)) {}

Progress::~Progress() {
  if (bar_is_open_) std::fputc('\n', output_);
}

void Progress::show(std::int64_t done, const std::string& facts) {
  if (is_terminal_) {
    show_bar(done, facts);
    return;
  }
  constexpr std::int64_t kLines = 20;
  if (done != total_ && done * kLines / total_ == (done - 1) * kLines / total_) return;
  fmt::print(output_, "step {}/{}  {}\n", done, total_, facts);
  std::fflush(output_);
}

void Progress::show_bar(std::int64_t done, const std::string& facts) {
  constexpr auto kPause = std::chrono::milliseconds(100);
  constexpr std::int64_t kWidth = 24;
  const auto now = Clock::now();
  if (done != total_ && now - shown_ < kPause) return;
  shown_ = now;
  bar_is_open_ = true;
  const auto filled = static_cast<std::size_t>(done * kWidth / total_);
  const std::string bar = std::string(filled, '#') + std::string(kWidth - filled, '.');
  fmt::print(output_, "\r[{}] {}/{}  {}  {}\033[K", bar, done, total_, facts, remaining(done));
  std::fflush(output_);
}

std::string Progress::remaining(std::int64_t done) const {
  const double elapsed = std::chrono::duration<double>(Clock::now() - begin_).count();
  const auto seconds =
      static_cast<std::int64_t>(elapsed * static_cast<double>(total_ - done) / static_cast<double>(done));
  return done == total_ ? fmt::format("in {:.0f} s", elapsed)
                        : fmt::format("{}:{:02} left", seconds / 60, seconds % 60);
}

}  // namespace keyway::inline v1::tools
