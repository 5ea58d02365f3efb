#include <keyway/backends/cuda/graph/replayed_graph.h>
#include <keyway/backends/cuda/graph/results.h>
#include <keyway/core/device/device_guard.h>
#include <keyway/core/tensor/device_allocator.h>

#include <exception>
#include <utility>

namespace keyway::inline v1::cuda {

namespace {

// A graph whose inputs move is captured again, with copies of these. More captures than this are of one in which some
// cannot be copied.
constexpr int kMostCaptures = 8;

// What may still run when nobody may wait for it.
void keep_for_ever(std::shared_ptr<void> thing) {
  static std::mutex mutex;
  static auto& all = *new std::vector<std::shared_ptr<void>>;
  const std::lock_guard lock(mutex);
  all.push_back(std::move(thing));
}

}  // namespace

ReplayedGraph::ReplayedGraph(const graph::Graph& graph, Device device)
    : program_(graph), device_(device), memory_(graph), how_("as a CUDA graph, which its second run captures") {}

ReplayedGraph::~ReplayedGraph() {
  if (captured_ == nullptr) return;
  try {
    if (is_capturing_graph()) {
      keep_for_ever(std::move(captured_));
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
  if (is_capturing_graph() || stream.is_capturing()) return program_.run(inputs, Program::By::Calls);
  std::unique_lock lock(mutex_);
  if (!is_refused_) memory_.see(inputs);
  if (lacks_capture()) {
    // A thread that is in a capture may be waiting for this one: that is not waited for.
    const CaptureLock alone(device_, std::try_to_lock);
    if (alone.is_held()) capture(inputs);
  }
  if (captured_ != nullptr && memory_.holds()) return replay(inputs, stream);
  lock.unlock();
  std::vector<Tensor> results = program_.run(inputs, Program::By::Calls);
  lock.lock();
  has_run_ = true;
  return results;
}

bool ReplayedGraph::lacks_capture() const {
  return has_run_ && !is_refused_ && (captured_ == nullptr || !memory_.holds());
}

void ReplayedGraph::capture(const std::vector<Tensor>& inputs) {
  if (captures_ == 0) {
    device_guard_impl(DeviceType::CUDA).set_device(device_);  // also where it is current: see DriverModule
    program_.fuse(device_);
  }
  synchronize(device_);  // what goes may be in use; an error of earlier work is none of the capture
  captured_.reset();
  if (++captures_ > kMostCaptures)
    return refuse(memory_.problem().value_or("its inputs lie in other memory each time"));
  try {
    captured_ = captured_with_room(inputs);
  } catch (const Error& error) {
    return refuse(std::string(error.message()));
  }
  const std::lock_guard lock(text_mutex_);
  how_ = "as a CUDA graph of " + program_.description();
}

std::unique_ptr<ReplayedGraph::Captured> ReplayedGraph::captured(const std::vector<Tensor>& inputs) {
  auto made = std::make_unique<Captured>();
  const std::vector<Tensor> tensors = memory_.stand_ins(inputs);
  made->stand_ins = memory_.all_stand_ins();
  CUDAGraphCapture scope(made->graph);
  made->outputs = program_.run(tensors, Program::By::Kernels);
  scope.end();
  return made;
}

std::unique_ptr<ReplayedGraph::Captured> ReplayedGraph::captured_with_room(const std::vector<Tensor>& inputs) {
  try {
    return captured(inputs);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::OutOfMemory) throw;
  }
  // While a stream is captured the allocator gives nothing back to the device.
  empty_cache(DeviceType::CUDA);
  return captured(inputs);
}

std::vector<Tensor> ReplayedGraph::replay(const std::vector<Tensor>& inputs, Stream stream) {
  // The last one may have been in another stream.
  captured_->replayed.block(stream);
  std::vector<Tensor> results;
  try {
    memory_.fill(inputs);
    captured_->graph.replay();
    memory_.write_back(inputs);
    results = results_of(program_.graph(), inputs, captured_->outputs);
  } catch (...) {
    captured_->replayed.record(stream);  // what was queued until then uses the graph's memory, too
    throw;
  }
  captured_->replayed.record(stream);
  return results;
}

void ReplayedGraph::refuse(std::string why) {
  is_refused_ = true;
  memory_.drop_stand_ins();
  const std::lock_guard lock(text_mutex_);
  how_ = "call by call, since a CUDA graph cannot be captured: " + std::move(why);
}

std::string ReplayedGraph::how() const {
  const std::lock_guard lock(text_mutex_);
  return how_;
}

}  // namespace keyway::inline v1::cuda
