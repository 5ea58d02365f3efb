// Capture: what a thread that captures a graph must not do, and who hears of it. Internal to backends/cuda.
#pragma once

#include <keyway/core/device/stream.h>

#include <cuda_runtime_api.h>
#include <string>
#include <string_view>

namespace keyway::inline v1::cuda {

struct Capture {
  Stream stream;
  std::string refused;  // the first error of what was refused meanwhile; empty: nothing was
};

// That of this thread; null: there is none.
Capture* current_capture() noexcept;
void set_current_capture(Capture* capture) noexcept;

inline bool is_captured(Stream stream) noexcept {
  const Capture* const capture = current_capture();
  return capture != nullptr && capture->stream == stream;
}

// Throws keyway::Error if this thread captures a graph: `what`, "item()", cannot be a part of it. The capture is
// spoiled then, since its work may lack a part, and ending it says why.
void refuse_in_capture(std::string_view what);

// As long as it lives the thread does, for the runtime and for us, what a capture forbids: memory of a graph is asked
// for so, and events of work that is none of its business are.
class OutsideCapture {
 public:
  OutsideCapture() noexcept : capture_(current_capture()) {
    if (capture_ == nullptr) return;
    (void)cudaThreadExchangeStreamCaptureMode(&mode_);
    set_current_capture(nullptr);
  }
  ~OutsideCapture() {
    if (capture_ == nullptr) return;
    set_current_capture(capture_);
    (void)cudaThreadExchangeStreamCaptureMode(&mode_);
  }
  OutsideCapture(const OutsideCapture&) = delete;
  OutsideCapture& operator=(const OutsideCapture&) = delete;

 private:
  Capture* const capture_;
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

}  // namespace keyway::inline v1::cuda
