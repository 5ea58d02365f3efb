#include <keyway/core/base/fork_safe_mutex.h>
#include <keyway/core/keys/thread_state.h>
#include <keyway/graph/frame.h>
#include <keyway/graph/plan.h>
#include <keyway/graph/run.h>

#include <algorithm>
#include <iterator>
#include <mutex>

namespace keyway::inline v1::graph {
namespace {

// Guards the frames of all plans that no run uses.
constinit ForkSafeMutex frames_mutex(LockOrder::Plans);

}  // namespace

bool Plan::is_possible(const Graph& graph) {
  return graph.level == Level::Executed &&
         std::ranges::all_of(graph.values, [](const Value& value) { return value.info.device.is_cpu(); });
}

Plan::Plan(Graph graph) : graph_(std::move(graph)), door_(graph_) {
  KEYWAY_CHECK_AS(NotImplemented, is_possible(graph_),
                  "there are plans of what is executed on the CPU; other graphs are run by graph::run");
}
Plan::~Plan() = default;

std::unique_ptr<Frame> Plan::take_frame() {
  std::vector<std::unique_ptr<Frame>> gone;  // destroyed without the lock: who frees what they hold may do anything
  const std::lock_guard lock(frames_mutex);
  const auto outdated =
      std::ranges::partition(frames_, [](const std::unique_ptr<Frame>& frame) { return frame->is_current(); });
  gone.assign(std::make_move_iterator(outdated.begin()), std::make_move_iterator(outdated.end()));
  frames_.erase(outdated.begin(), outdated.end());
  if (frames_.empty()) return nullptr;
  std::unique_ptr<Frame> frame = std::move(frames_.back());
  frames_.pop_back();
  return frame;
}

void Plan::give_back(std::unique_ptr<Frame> frame) {
  const std::lock_guard lock(frames_mutex);
  frames_.push_back(std::move(frame));
}

std::optional<std::string> Plan::try_run(ArrayRef<Tensor> arguments, std::vector<Tensor>& results) {
  if (arguments.size() != graph_.argument_count()) return door_.mismatch(arguments);
  const std::vector<Tensor> inputs = door_.inputs(arguments);
  if (std::optional<std::string> why = door_.input_mismatch(inputs)) return why;
  results = run_inputs(inputs);
  return std::nullopt;
}

std::vector<Tensor> Plan::run_inputs(const std::vector<Tensor>& inputs) {
  // A capture, a profile or a mode of this thread is to see each call; and tensors of a frame keep their sizes.
  if (!included_keys().remove(Functionality::Autocast).empty() || !is_fixed_) return graph::run_inputs(graph_, inputs);
  const ExcludeDispatchKeyGuard above(DispatchKeySet(Functionality::Autocast) | kAutogradKeys);
  std::vector<Tensor> results;
  std::unique_ptr<Frame> frame = take_frame();
  if (frame != nullptr) {
    results = frame->run(inputs);
  } else {
    frame = std::make_unique<Frame>(graph_, inputs, results);
    is_fixed_ = frame->is_fixed();
    ++learned_runs_;
  }
  if (is_fixed_) give_back(std::move(frame));
  return results;
}

std::vector<Tensor> Plan::run(ArrayRef<Tensor> arguments) {
  std::vector<Tensor> results;
  if (const std::optional<std::string> why = try_run(arguments, results))
    KEYWAY_FAIL(Value, "the graph does not hold for this call: {}", *why);
  return results;
}

Plan::Statistics Plan::statistics() const {
  const std::lock_guard lock(frames_mutex);
  if (frames_.empty()) return {};
  Statistics known = frames_.back()->statistics();
  known.learned_runs = learned_runs_;
  return known;
}

}  // namespace keyway::inline v1::graph
