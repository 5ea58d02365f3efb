#include <keyway/backends/cuda/graph/replayed_graph.h>
#include <keyway/backends/cuda/graph/results.h>
#include <keyway/core/device/stream_guard.h>

#include <exception>
#include <utility>

namespace keyway::inline v1::cuda {

namespace {

// A graph whose inputs move is captured again, with copies of these. More captures than this are of one in which some
// cannot be copied.
constexpr int kMostCaptures = 8;

// Captures of one device disturb each other.
std::mutex& one_capture() {
  static std::mutex& mutex = *new std::mutex;
  return mutex;
}

}  // namespace

ReplayedGraph::ReplayedGraph(const graph::Graph& graph, Device device)
    : program_(graph), device_(device), memory_(graph), how_("as a CUDA graph, which its second run captures") {}

ReplayedGraph::~ReplayedGraph() {
  if (captured_ == nullptr) return;
  try {
    // A thread that captures something must not wait; what may still run then is kept for ever.
    if (current_stream(device_).is_capturing()) {
      (void)captured_.release();
    } else {
      captured_->replayed.synchronize();
    }
  } catch (const std::exception&) {
    // An error of a kernel, which the next call of the device has as well.
  }
}

std::vector<Tensor> ReplayedGraph::run(const std::vector<Tensor>& inputs) {
  const DeviceGuard device(device_);
  const Stream stream = current_stream(device_);
  // What captures this run is to have its calls.
  if (stream.is_capturing()) return program_.run(inputs, Program::By::Calls);
  {
    const std::lock_guard lock(mutex_);
    if (!is_refused_) {
      memory_.see(inputs);
      if (std::exchange(has_run_, true)) {
        if (captured_ == nullptr || !memory_.holds()) capture(inputs);
        if (captured_ != nullptr) return replay(inputs, stream);
      }
    }
  }
  return program_.run(inputs, Program::By::Calls);
}

void ReplayedGraph::capture(const std::vector<Tensor>& inputs) {
  if (captures_ == 0) program_.fuse(device_);
  const std::lock_guard alone(one_capture());
  synchronize(device_);  // what goes may be in use; an error of earlier work is none of the capture
  captured_.reset();
  if (++captures_ > kMostCaptures)
    return refuse(memory_.problem().value_or("its inputs lie in other memory each time"));
  const std::vector<Tensor> tensors = memory_.stand_ins(inputs);
  auto captured = std::make_unique<Captured>();
  try {
    CUDAGraphCapture scope(captured->graph);
    captured->outputs = program_.run(tensors, Program::By::Kernels);
    scope.end();
  } catch (const Error& error) {
    return refuse(std::string(error.message()));
  }
  captured_ = std::move(captured);
  const std::lock_guard lock(text_mutex_);
  how_ = "as a CUDA graph of " + program_.description();
}

std::vector<Tensor> ReplayedGraph::replay(const std::vector<Tensor>& inputs, Stream stream) {
  // The last one may have been in another stream.
  captured_->replayed.block(stream);
  memory_.fill(inputs);
  captured_->graph.replay();
  memory_.write_back(inputs);
  std::vector<Tensor> results = results_of(program_.graph(), inputs, captured_->outputs);
  captured_->replayed.record(stream);
  return results;
}

void ReplayedGraph::refuse(std::string why) {
  is_refused_ = true;
  const std::lock_guard lock(text_mutex_);
  how_ = "call by call, since a CUDA graph cannot be captured: " + std::move(why);
}

std::string ReplayedGraph::how() const {
  const std::lock_guard lock(text_mutex_);
  return how_;
}

}  // namespace keyway::inline v1::cuda
