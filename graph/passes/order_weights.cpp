#include <keyway/core/schema/schema.h>
#include <keyway/dispatch/call/operator_entry.h>
#include <keyway/graph/add_call.h>
#include <keyway/graph/effects.h>
#include <keyway/graph/passes/order_weights.h>

#include <unordered_map>

namespace keyway::inline v1::graph {
namespace {

// Products of fewer rows read lines of either operand as they lie.
constexpr std::int64_t kFewestRows = 9;

class Orderer {
 public:
  explicit Orderer(const Graph& graph) : graph_(graph), result_(without_calls(graph)), is_state_(graph.values.size()) {
    const std::vector<bool> is_written = written_memories(graph);
    for (const Input& input : graph.inputs) {
      const bool is_fixed = input.is_state && input.grad_of == kNoValue;
      is_state_[index(input.value)] = is_fixed && !is_written[index(memory_of(graph, input.value))];
    }
  }

  Graph ordered() {
    for (const Node& node : graph_.nodes) {
      Node call = node;
      const std::string name = node.op->full_name();
      if (name == "keyway::mm") order(call, 0);
      if (name == "keyway::addmm") order(call, 1);
      result_.nodes.push_back(std::move(call));
    }
    return renumbered(std::move(result_));
  }

 private:
  // Of the product of arguments `first` and the one behind it.
  void order(Node& call, std::size_t first) {
    const ValueId rows = call.arguments[first].to_int(), weight = call.arguments[first + 1].to_int();
    const TensorInfo& info = info_of(graph_, weight);
    const bool is_turned = info.sizes[0] > 1 && info.sizes[1] > 1 && info.strides[0] == 1 && info.strides[1] != 1;
    if (!is_turned || !is_state_[index(memory_of(graph_, weight))] || info_of(graph_, rows).sizes[0] < kFewestRows)
      return;
    const auto [known, is_new] = copies_.try_emplace(weight, kNoValue);
    if (is_new)
      known->second = add_call(result_, "clone", {IValue(weight), IValue(MemoryFormat::Contiguous)}, call.site);
    call.arguments[first + 1] = IValue(known->second);
  }

  const Graph& graph_;
  Graph result_;
  std::vector<bool> is_state_;  // of values that are inputs: nobody in the graph writes to it
  std::unordered_map<ValueId, ValueId> copies_;
};

}  // namespace

Graph order_weights(const Graph& graph) { return Orderer(graph).ordered(); }

}  // namespace keyway::inline v1::graph
