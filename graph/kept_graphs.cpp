#include <keyway/core/base/fork_safe_mutex.h>
#include <keyway/graph/executable.h>
#include <keyway/graph/kept_graphs.h>
#include <keyway/graph/run.h>
#include <keyway/graph/same_graph.h>

#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace keyway::inline v1::graph {
namespace {

constexpr std::size_t kMost = 64;

// A graph, and, once it has come a second time, what runs it.
struct Kept {
  explicit Kept(Graph its_graph) : graph(std::move(its_graph)) {}

  const Graph graph;
  std::unique_ptr<Executable> ready;
};

// Guards which graphs there are, and whether they are ready.
constinit ForkSafeMutex kept_mutex(LockOrder::Plans);

Executable& executable_of(Kept& kept) {
  {
    const std::lock_guard lock(kept_mutex);
    if (kept.ready != nullptr) return *kept.ready;
  }
  auto made = std::make_unique<Executable>(kept.graph);
  const std::lock_guard lock(kept_mutex);
  if (kept.ready == nullptr) kept.ready.swap(made);
  return *kept.ready;
}

class KeptGraphs {
 public:
  // The one that is equal; null if there is none, and then this one is kept.
  std::shared_ptr<Kept> find_or_add(const Graph& graph) {
    const std::uint64_t hash = hash_of(graph);
    std::shared_ptr<Kept> gone;  // destroyed when the lock is let go
    const std::lock_guard lock(kept_mutex);
    const auto found = places_.find(hash);
    if (found != places_.end()) {
      latest_.splice(latest_.begin(), latest_, found->second);
      if (is_same(found->second->second->graph, graph)) return found->second->second;
      gone = std::exchange(found->second->second, std::make_shared<Kept>(graph));  // of two with one hash the later
      return nullptr;
    }
    latest_.emplace_front(hash, std::make_shared<Kept>(graph));
    places_[hash] = latest_.begin();
    if (latest_.size() > kMost) {
      gone = std::move(latest_.back().second);
      places_.erase(latest_.back().first);
      latest_.pop_back();
    }
    return nullptr;
  }

 private:
  using List = std::list<std::pair<std::uint64_t, std::shared_ptr<Kept>>>;
  List latest_;  // the one used last is first
  std::unordered_map<std::uint64_t, List::iterator> places_;
};

KeptGraphs& kept_graphs() {
  static KeptGraphs& all = *new KeptGraphs;  // never destroyed: what runs at exit may defer
  return all;
}

}  // namespace

std::vector<Tensor> run_kept(const Graph& graph, const std::vector<Tensor>& inputs, bool& is_known) {
  const std::shared_ptr<Kept> kept = kept_graphs().find_or_add(graph);
  is_known = kept != nullptr;
  return is_known ? executable_of(*kept).run(inputs) : run_inputs(graph, inputs);
}

}  // namespace keyway::inline v1::graph
