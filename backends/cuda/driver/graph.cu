#include <keyway/backends/cuda/driver/check.h>
#include <keyway/backends/cuda/driver/cuda_allocator.h>
#include <keyway/backends/cuda/driver/cuda_device_guard.h>
#include <keyway/backends/cuda/driver/events.h>
#include <keyway/backends/cuda/driver/graph.h>
#include <keyway/backends/cuda/driver/launch.h>
#include <keyway/core/base/error.h>

#include <utility>

namespace keyway::inline v1::cuda {

namespace {

__global__ void set_start(PhiloxStart* const to, const PhiloxStart start) { *to = start; }

CachingAllocator& cache_of(const Capture& capture) {
  return cuda_allocator().of_device(capture.stream.device().index());
}

Stream current_stream_here() {
  const CudaDeviceGuard& guard = cuda_device_guard();
  return guard.get_stream(guard.get_device());
}

}  // namespace

CudaGraph::~CudaGraph() {
  if (capturing_) {
    cudaGraph_t graph = nullptr;
    (void)finish(graph);
    if (graph != nullptr) (void)cudaGraphDestroy(graph);
  }
  if (replayed_ != nullptr) (void)cudaEventDestroy(replayed_);
  if (work_ != nullptr) (void)cudaGraphExecDestroy(work_);  // as soon as the device has done what was replayed
  if (pool_ != 0) cache_of(capture_).release_pool(pool_);
}

void CudaGraph::check_can_capture(Stream stream) const {
  KEYWAY_CHECK(!stream.is_default(),
               "the {} cannot be captured: make another stream current, with StreamGuard or CUDAGraphCapture", stream);
  KEYWAY_CHECK(current_capture() == nullptr, "this thread is capturing {} already", current_capture()->stream);
  KEYWAY_CHECK(is_caching(), "graphs keep their memory in the cache, which KEYWAY_NO_CUDA_MEMORY_CACHING=1 turns off");
}

void CudaGraph::capture_begin(MempoolId pool) {
  const Stream stream = current_stream_here();
  check_can_capture(stream);
  capture_.stream = stream;
  start_ = cuda_allocator().allocate(sizeof(PhiloxStart));
  pool_ = cache_of(capture_).begin_capture(stream.id(), pool);
  // Other threads may do what they want: what they queue goes to other streams.
  const cudaError_t status = cudaStreamBeginCapture(runtime_stream(stream), cudaStreamCaptureModeThreadLocal);
  if (status != cudaSuccess) cache_of(capture_).end_capture(stream.id());
  check(status, "cudaStreamBeginCapture", __FILE__, __LINE__);
  capturing_ = true;
  set_current_capture(&capture_);
  draws_.emplace(stream.device(), static_cast<const PhiloxStart*>(start_.get()));
}

cudaError_t CudaGraph::finish(cudaGraph_t& graph) noexcept {
  calls_ = draws_->calls();
  draws_.reset();
  set_current_capture(nullptr);
  capturing_ = false;
  graph = nullptr;
  const cudaError_t status = cudaStreamEndCapture(runtime_stream(capture_.stream), &graph);
  if (status != cudaSuccess) {
    (void)cudaGetLastError();
    graph = nullptr;
  }
  cache_of(capture_).end_capture(capture_.stream.id());
  return status;
}

void CudaGraph::capture_end() {
  cudaGraph_t graph = nullptr;
  const cudaError_t ended = finish(graph);
  const std::string refused = std::exchange(capture_.refused, {});
  cudaError_t status = cudaErrorUnknown;
  if (graph != nullptr) {
    if (refused.empty()) status = cudaGraphInstantiate(&work_, graph, 0);
    (void)cudaGraphDestroy(graph);
  }
  KEYWAY_CHECK(refused.empty(), "what was captured is not whole: {}", refused);
  KEYWAY_CHECK_AS(Internal, graph != nullptr, "the CUDA runtime gave the capture of {} up: {} ({})", capture_.stream,
                  cudaGetErrorString(ended), cudaGetErrorName(ended));
  check(status, "cudaGraphInstantiate", __FILE__, __LINE__);
}

void CudaGraph::replay() {
  const Stream stream = current_stream_here();
  KEYWAY_CHECK(stream.device() == capture_.stream.device(), "the graph is of {}, but {} is current",
               capture_.stream.device(), stream.device());
  refuse_in_capture("the replay of a graph");
  if (calls_ > 0) {
    // The runtime lets a replay wait for the one before, but not what this one starts from: that is still read there.
    if (replayed_ != nullptr) wait_for(stream, replayed_);
    const GeneratorState state = default_generator(stream.device()).take_calls(calls_);
    launch(&set_start, 1, 1, runtime_stream(stream), static_cast<PhiloxStart*>(start_.get()),
           PhiloxStart{state.seed, state.call});
    cache_of(capture_).record_stream(start_.get(), stream);
  }
  KEYWAY_CUDA_CHECK(cudaGraphLaunch(work_, runtime_stream(stream)));
  if (calls_ == 0) return;
  if (replayed_ == nullptr) replayed_ = make_event(stream.device(), cudaEventDisableTiming);
  KEYWAY_CUDA_CHECK(cudaEventRecord(replayed_, runtime_stream(stream)));
}

}  // namespace keyway::inline v1::cuda
