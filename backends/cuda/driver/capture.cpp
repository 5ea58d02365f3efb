#include <keyway/backends/cuda/driver/capture.h>
#include <keyway/core/base/error.h>

#include <fmt/format.h>

namespace keyway::inline v1::cuda {

namespace {

thread_local constinit Capture* capture_of_thread = nullptr;

}  // namespace

Capture* current_capture() noexcept { return capture_of_thread; }
void set_current_capture(Capture* capture) noexcept { capture_of_thread = capture; }

void refuse_in_capture(std::string_view what) {
  Capture* const capture = current_capture();
  if (capture == nullptr) [[likely]]
    return;
  std::string text =
      fmt::format("{} cannot be a part of a graph, and {} is being captured", what, to_string(capture->stream));
  if (capture->refused.empty()) capture->refused = text;
  KEYWAY_FAIL(Value, "{}", text);
}

}  // namespace keyway::inline v1::cuda
