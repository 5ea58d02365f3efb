#include <keyway/backends/cuda/driver/cuda_device_guard.h>
#include <keyway/backends/cuda/driver/events.h>
#include <keyway/backends/cuda/driver/with_device.h>

namespace keyway::inline v1::cuda {

cudaEvent_t make_event(Device device, unsigned flags) {
  const WithDevice on(device.index());
  cudaEvent_t event = nullptr;
  KEYWAY_CUDA_CHECK(cudaEventCreateWithFlags(&event, flags));
  return event;
}

cudaEvent_t record_event(Stream stream) {
  const WithDevice on(stream.device().index());
  cudaEvent_t const event = make_event(stream.device(), cudaEventDisableTiming);
  try {
    KEYWAY_CUDA_CHECK(cudaEventRecord(event, runtime_stream(stream)));
  } catch (...) {
    (void)cudaEventDestroy(event);
    throw;
  }
  return event;
}

bool is_done(cudaEvent_t event) { return is_done(cudaEventQuery(event), "cudaEventQuery"); }

bool is_capturing(Stream stream) { return cuda_device_guard().is_capturing(stream); }

void wait_for(Stream waiting, cudaEvent_t event) {
  const WithDevice on(waiting.device().index());
  KEYWAY_CUDA_CHECK(cudaStreamWaitEvent(runtime_stream(waiting), event, 0));
}

void wait_for(Stream waiting, Stream other) {
  cudaEvent_t const event = record_event(other);
  try {
    wait_for(waiting, event);
  } catch (...) {
    (void)cudaEventDestroy(event);
    throw;
  }
  (void)cudaEventDestroy(event);  // the runtime keeps it until it has come
}

}  // namespace keyway::inline v1::cuda
