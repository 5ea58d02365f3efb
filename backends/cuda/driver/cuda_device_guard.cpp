#include <keyway/backends/cuda/driver/capture.h>
#include <keyway/backends/cuda/driver/cuda_device_guard.h>
#include <keyway/backends/cuda/driver/device_asserts.h>
#include <keyway/backends/cuda/driver/events.h>
#include <keyway/backends/cuda/driver/graph.h>
#include <keyway/backends/cuda/driver/stream_pool.h>
#include <keyway/backends/cuda/driver/with_device.h>

#include <array>
#include <memory>
#include <nvtx3/nvToolsExt.h>
#include <utility>

namespace keyway::inline v1::cuda {

namespace {

// The current stream of each device.
thread_local constinit std::array<StreamId, kMaxDevices> current_streams{};

StreamId& stream_number(Device device) { return current_streams[static_cast<std::size_t>(device.index())]; }

Device cuda_device(int index) { return {DeviceType::CUDA, static_cast<std::int8_t>(index)}; }

// What others hold as an event.
struct GuardEvent {
  cudaEvent_t event;
  Stream stream;  // where it was recorded last
};
GuardEvent& guard_event(void* event) { return *static_cast<GuardEvent*>(event); }

}  // namespace

CudaDeviceGuard& cuda_device_guard() {
  static CudaDeviceGuard& guard = *new CudaDeviceGuard;
  return guard;
}

cudaStream_t runtime_stream(Stream stream) { return StreamPool::get().stream(stream.device().index(), stream.id()); }

bool may_wait_for(Stream) { return current_capture() == nullptr; }

int CudaDeviceGuard::device_count() const noexcept { return static_cast<int>(devices().all.size()); }

std::string CudaDeviceGuard::why_no_device() const { return devices().problem; }

Device CudaDeviceGuard::get_device() const {
  int device = 0;
  KEYWAY_CUDA_CHECK(cudaGetDevice(&device));
  return cuda_device(device);
}

Device CudaDeviceGuard::exchange_device(Device device) {
  const Device before = get_device();
  if (before != device) set_device(device);
  return before;
}

void CudaDeviceGuard::set_device(Device device) { KEYWAY_CUDA_CHECK(cudaSetDevice(device.index())); }

void CudaDeviceGuard::unchecked_set_device(Device device) noexcept { (void)cudaSetDevice(device.index()); }

Stream CudaDeviceGuard::get_stream(Device device) const { return Stream(device, stream_number(device)); }

Stream CudaDeviceGuard::get_new_stream(Device device, int priority) {
  return Stream(device, StreamPool::get().next(device.index(), priority));
}

Stream CudaDeviceGuard::exchange_stream(Stream stream) {
  (void)runtime_stream(stream);  // throws if there is none
  return Stream(stream.device(), std::exchange(stream_number(stream.device()), stream.id()));
}

bool CudaDeviceGuard::query_stream(Stream stream) const {
  refuse_in_capture("a question about a stream");
  const WithDevice on(stream.device().index());
  return is_done(cudaStreamQuery(runtime_stream(stream)), "cudaStreamQuery");
}

void CudaDeviceGuard::synchronize_stream(Stream stream) const {
  refuse_in_capture("waiting for a stream");
  const WithDevice on(stream.device().index());
  KEYWAY_CUDA_CHECK(cudaStreamSynchronize(runtime_stream(stream)));
  throw_device_asserts(stream);
}

void CudaDeviceGuard::synchronize_device(Device device) const {
  refuse_in_capture("waiting for a device");
  const WithDevice on(device.index());
  KEYWAY_CUDA_CHECK(cudaDeviceSynchronize());
  throw_device_asserts(device);
}

void* CudaDeviceGuard::create_event(Device device, bool timing) {
  auto made = std::make_unique<GuardEvent>(GuardEvent{nullptr, Stream(device)});
  made->event = make_event(device, timing ? cudaEventDefault : cudaEventDisableTiming);
  return made.release();
}

void CudaDeviceGuard::destroy_event(void* event, Device) noexcept {
  const std::unique_ptr<GuardEvent> gone(&guard_event(event));
  (void)cudaEventDestroy(gone->event);
}

void CudaDeviceGuard::record(void* event, Stream stream) {
  refuse_in_capture("an event");
  const WithDevice on(stream.device().index());
  KEYWAY_CUDA_CHECK(cudaEventRecord(guard_event(event).event, runtime_stream(stream)));
  guard_event(event).stream = stream;
}

void CudaDeviceGuard::block(void* event, Stream stream) {
  refuse_in_capture("waiting for an event");
  wait_for(stream, guard_event(event).event);
}

bool CudaDeviceGuard::query_event(void* event) const {
  refuse_in_capture("a question about an event");
  return is_done(guard_event(event).event);
}

void CudaDeviceGuard::synchronize_event(void* event) const {
  refuse_in_capture("waiting for an event");
  KEYWAY_CUDA_CHECK(cudaEventSynchronize(guard_event(event).event));
  throw_device_asserts(guard_event(event).stream);
}

double CudaDeviceGuard::elapsed_time(void* start, void* end) const {
  float milliseconds = 0;
  KEYWAY_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, guard_event(start).event, guard_event(end).event));
  return milliseconds;
}

bool CudaDeviceGuard::is_capturing(Stream stream) const {
  if (stream.is_default()) return false;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  KEYWAY_CUDA_CHECK(cudaStreamIsCapturing(runtime_stream(stream), &status));
  return status != cudaStreamCaptureStatusNone;
}

std::unique_ptr<GraphImplInterface> CudaDeviceGuard::new_graph() { return std::make_unique<CudaGraph>(); }

void CudaDeviceGuard::range_push(const char* name) noexcept { (void)nvtxRangePushA(name); }
void CudaDeviceGuard::range_pop() noexcept { (void)nvtxRangePop(); }

DeviceAssertTarget CudaDeviceGuard::assert_target(const char* op, const char* reason, Stream stream) {
  return {device_assert(op, reason), device_assert_slot(stream)};
}

}  // namespace keyway::inline v1::cuda
