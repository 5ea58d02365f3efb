#include <keyway/core/base/error.h>
#include <keyway/core/device/capture_streams.h>
#include <keyway/core/device/cuda_graph.h>
#include <keyway/core/device/held.h>

#include <utility>

namespace keyway::inline v1 {

namespace {

thread_local constinit int captures_of_thread = 0;

Device device_of(const std::optional<Stream>& stream) {
  KEYWAY_CHECK(!is_capturing_graph(), "this thread is capturing a graph already");
  return stream ? stream->device() : current_device(DeviceType::CUDA);
}

// Where nobody names a stream.
Stream own_stream(Device device) {
  DeviceGuardImplInterface& devices = device_guard_impl(DeviceType::CUDA);
  auto* const source = dynamic_cast<CaptureStreams*>(&devices);
  return source == nullptr ? devices.get_new_stream(device, 0) : source->capture_stream(device);
}

}  // namespace

bool is_capturing_graph() { return captures_of_thread > 0; }

GraphImplInterface::~GraphImplInterface() = default;

std::unique_ptr<GraphImplInterface> DeviceGuardImplInterface::new_graph() {
  KEYWAY_FAIL(NotImplemented, "devices of type {} have no graphs", type());
}

CUDAGraph::CUDAGraph() = default;
CUDAGraph::CUDAGraph(CUDAGraph&&) noexcept = default;
CUDAGraph& CUDAGraph::operator=(CUDAGraph&& other) noexcept {
  if (this == &other) return *this;
  drop();
  hold_ = std::move(other.hold_);
  impl_ = std::move(other.impl_);
  captures_ = std::exchange(other.captures_, {});
  return *this;
}
CUDAGraph::~CUDAGraph() { drop(); }

bool CUDAGraph::is_captured_elsewhere() const {
  return impl_ != nullptr && captures_ != std::thread::id() && captures_ != std::this_thread::get_id();
}

void CUDAGraph::drop() noexcept {
  // Only the thread that began a capture can end it, and it works with the graph until it does: it may keep it.
  if (is_captured_elsewhere()) {
    (void)impl_.release();
    hold_.leave();
  } else if (impl_ != nullptr && captures_ != std::thread::id()) {
    --captures_of_thread;
  }
  impl_.reset();
  hold_ = {};
  captures_ = {};
}

void CUDAGraph::capture_begin(MempoolId pool) {
  KEYWAY_CHECK(impl_ == nullptr, "the graph holds something: reset() it first");
  auto [devices, hold] = hold_device_guard(DeviceType::CUDA, ResourceKind::Graph);
  detail::checked_device(devices, DeviceType::CUDA);
  auto graph = devices.new_graph();
  graph->capture_begin(pool);
  impl_ = std::move(graph);
  hold_ = std::move(hold);
  captures_ = std::this_thread::get_id();
  ++captures_of_thread;
}

void CUDAGraph::capture_end() {
  KEYWAY_CHECK(impl_ != nullptr && captures_ != std::thread::id(),
               "nothing is being captured: call capture_begin() first");
  KEYWAY_CHECK(captures_ == std::this_thread::get_id(), "a capture ends in the thread that began it");
  captures_ = {};
  --captures_of_thread;
  try {
    impl_->capture_end();
  } catch (...) {
    reset();
    throw;
  }
}

void CUDAGraph::replay() {
  KEYWAY_CHECK(captures_ == std::thread::id(), "the graph is still being captured: call capture_end() first");
  captured().replay();
}

void CUDAGraph::reset() {
  KEYWAY_CHECK(!is_captured_elsewhere(),
               "another thread is capturing the graph: a capture ends in the thread that began it");
  drop();
}

MempoolId CUDAGraph::pool() const { return captured().pool(); }

GraphImplInterface& CUDAGraph::captured() const {
  KEYWAY_CHECK(impl_ != nullptr, "the graph is empty: capture something first");
  return *impl_;
}

CUDAGraphCapture::CUDAGraphCapture(CUDAGraph& graph, MempoolId pool, std::optional<Stream> stream)
    : graph_(graph), lock_(device_of(stream)), stream_(stream ? *stream : own_stream(lock_.device())) {
  synchronize(stream_.current_device());
  graph_.capture_begin(pool);
}

CUDAGraphCapture::~CUDAGraphCapture() {
  if (!ended_) graph_.drop();
}

void CUDAGraphCapture::end() {
  ended_ = true;
  graph_.capture_end();
}

}  // namespace keyway::inline v1
