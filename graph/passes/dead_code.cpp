#include <keyway/core/schema/schema.h>
#include <keyway/dispatch/call/operator_entry.h>
#include <keyway/graph/effects.h>
#include <keyway/graph/passes/dead_code.h>

#include <algorithm>

namespace keyway::inline v1::graph {
namespace {

// What the calls behind the one that is looked at use.
class Uses {
 public:
  explicit Uses(const Graph& graph) : graph_(graph), is_used_(graph.values.size()), is_read_(graph.values.size()) {
    for (const Input& input : graph.inputs) use(input.value);
    for_each_left(graph, [this](ValueId id) { use(id); });
  }

  void use(ValueId id) {
    is_used_[index(id)] = true;
    is_read_[index(memory_of(graph_, id))] = true;
  }
  bool is_needed(const Node& node) const {
    if (has_effect(node)) return true;
    bool is_needed = false;
    for_each_written(node, [&](ValueId id) { is_needed = is_needed || is_read_[index(memory_of(graph_, id))]; });
    for_each_result(node, [&](ValueId id) { is_needed = is_needed || is_used_[index(id)]; });
    return is_needed;
  }

 private:
  const Graph& graph_;
  std::vector<bool> is_used_;
  std::vector<bool> is_read_;  // of the first value in a memory: whether its contents are used
};

}  // namespace

Graph eliminate_dead_code(const Graph& graph) {
  Uses uses(graph);
  Graph result = without_calls(graph);
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    if (!uses.is_needed(*node)) continue;
    for_each_argument(*node, [&](ValueId id) { uses.use(id); });
    result.nodes.push_back(*node);
  }
  std::ranges::reverse(result.nodes);
  return renumbered(std::move(result));
}

}  // namespace keyway::inline v1::graph
