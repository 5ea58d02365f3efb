// Events of the runtime that only the backend sees: without times. Internal to backends/cuda.
#pragma once

#include <keyway/backends/cuda/driver/capture.h>
#include <keyway/backends/cuda/driver/check.h>
#include <keyway/core/device/stream.h>

namespace keyway::inline v1::cuda {

// A new event of a device, with `flags` of the runtime. Throws keyway::Error.
cudaEvent_t make_event(Device device, unsigned flags);
// A new event after all work that is queued in the stream now. Throws keyway::Error.
cudaEvent_t record_event(Stream stream);
bool is_done(cudaEvent_t event);
// Whether a graph is captured in the stream, by whichever thread.
bool is_capturing(Stream stream);
// Later work of a stream comes after an event, or after all that another stream has now.
void wait_for(Stream waiting, cudaEvent_t event);
void wait_for(Stream waiting, Stream other);

// The events of an allocator's `Memory`.
template <typename Memory>
class RuntimeEvents : public Memory {
 public:
  bool is_capturing(Stream stream) final { return cuda::is_capturing(stream); }
  void* record(Stream stream) final {
    const OutsideCapture outside;
    return record_event(stream);
  }
  bool is_done(void* event) final {
    const OutsideCapture outside;
    return cuda::is_done(static_cast<cudaEvent_t>(event));
  }
  void wait(void* event) final {
    const OutsideCapture outside;
    KEYWAY_CUDA_CHECK(cudaEventSynchronize(static_cast<cudaEvent_t>(event)));
  }
  void destroy(void* event) noexcept final { (void)cudaEventDestroy(static_cast<cudaEvent_t>(event)); }

 protected:
  ~RuntimeEvents() = default;
};

}  // namespace keyway::inline v1::cuda
