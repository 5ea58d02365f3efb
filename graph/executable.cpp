#include <keyway/core/base/concatenate.h>
#include <keyway/core/base/fork_safe_mutex.h>
#include <keyway/core/keys/thread_state.h>
#include <keyway/graph/executable.h>

#include <mutex>

namespace keyway::inline v1::graph {
namespace {

// Guards what backends have made of graphs, in all executables.
constinit ForkSafeMutex compilations_mutex(LockOrder::Plans);

}  // namespace

Executable::Executable(Graph graph) {
  if (Plan::is_possible(graph)) {
    plan_ = std::make_unique<Plan>(std::move(graph));
  } else {
    calls_ = std::make_unique<Interpreter>(std::move(graph));
    door_ = std::make_unique<Door>(calls_->graph());
  }
}

Executable::~Executable() = default;

std::shared_ptr<Compilation> Executable::compilation() {
  const auto is_there = [&] { return compilation_ != nullptr && !compilation_->is_outdated(); };
  {
    const std::lock_guard lock(compilations_mutex);
    if (is_there()) return compilation_;
  }
  auto made = std::make_shared<Compilation>(calls_->graph());
  const std::lock_guard lock(compilations_mutex);
  if (!is_there()) compilation_.swap(made);
  return compilation_;
}

std::optional<std::string> Executable::mismatch(ArrayRef<Tensor> arguments) const {
  return plan_ == nullptr ? calls_->mismatch(arguments) : plan_->mismatch(arguments);
}

std::optional<std::string> Executable::try_run(ArrayRef<Tensor> arguments, std::vector<Tensor>& results) {
  if (plan_ != nullptr) return plan_->try_run(arguments, results);
  // A capture, a profile or a mode of this thread is to see each call.
  const bool is_watched = !included_keys().remove(Functionality::Autocast).empty();
  if (is_watched || arguments.size() != graph().argument_count()) return calls_->try_run(arguments, results);
  const std::shared_ptr<Compilation> compiled = compilation();
  if (!compiled->why_not().empty()) return calls_->try_run(arguments, results);
  const std::vector<Tensor> inputs = door_->inputs(arguments);
  if (std::optional<std::string> why = door_->input_mismatch(inputs)) return why;
  if (std::optional<std::vector<Tensor>> outputs = compiled->run(graph(), inputs)) {
    results = std::move(*outputs);
    return std::nullopt;
  }
  return calls_->try_run(arguments, results);
}

std::vector<Tensor> Executable::run(ArrayRef<Tensor> arguments) {
  std::vector<Tensor> results;
  if (const std::optional<std::string> why = try_run(arguments, results))
    KEYWAY_FAIL(Value, "the graph does not hold for this call: {}", *why);
  return results;
}

std::string Executable::how() const {
  if (plan_ != nullptr) {
    const Plan::Statistics known = plan_->statistics();
    if (known.parallel_parts == 0) return "as a plan";
    return concatenate("as a plan, ", known.parallel_calls, " calls of which run in ", known.parallel_parts,
                       " parts beside each other");
  }
  std::shared_ptr<Compilation> known;
  {
    const std::lock_guard lock(compilations_mutex);
    known = compilation_;
  }
  if (known == nullptr) return "call by call: it has not run yet";
  if (!known->why_not().empty()) return "call by call: " + known->why_not();
  return known->how();
}

Plan::Statistics Executable::statistics() const { return plan_ == nullptr ? Plan::Statistics{} : plan_->statistics(); }

}  // namespace keyway::inline v1::graph
