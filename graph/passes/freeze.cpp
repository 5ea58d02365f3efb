#include <keyway/core/keys/thread_state.h>
#include <keyway/core/schema/schema.h>
#include <keyway/dispatch/call/call.h>
#include <keyway/graph/boxed_values.h>
#include <keyway/graph/effects.h>
#include <keyway/graph/passes/dead_code.h>
#include <keyway/graph/passes/freeze.h>

#include <algorithm>

namespace keyway::inline v1::graph {
namespace {

class Freezer {
 public:
  explicit Freezer(const Graph& graph) : graph_(graph), result_(graph) {
    for (std::vector<bool>* flags : {&is_changing_, &is_made_}) flags->resize(graph.values.size());
    constants_.resize(graph.values.size());
    for (const Node& node : graph.nodes) {
      for_each_written(node, [&](ValueId id) { is_changing_[memory_at(id)] = true; });
    }
    for (const Input& input : graph.inputs) {
      if (!input.is_state || input.grad_of != kNoValue || is_changing_[memory_at(input.value)]) continue;
      KEYWAY_CHECK(input.state.defined(), "a graph without the tensors of its state cannot be frozen");
      if (!input.state.is_inference()) constants_[index(input.value)] = input.state;
    }
    for_each_left(graph, [&](ValueId id) { is_changing_[memory_at(id)] = true; });
  }

  Graph frozen() {
    result_.nodes.clear();
    for (const Node& node : graph_.nodes) {
      if (!can_be_made(node)) {
        result_.nodes.push_back(node);
        continue;
      }
      make(node);
      if (is_view(node)) result_.nodes.push_back(node);
    }
    add_inputs();
    for (Input& input : result_.inputs) {
      const TensorBase& constant = constants_[index(input.value)];
      if (constant.defined()) input.frozen = FrozenState{constant.storage(), constant._version()};
    }
    return eliminate_dead_code(result_);
  }

 private:
  std::size_t memory_at(ValueId id) const { return index(memory_of(graph_, id)); }

  bool can_be_made(const Node& node) const {
    if (!is_pure(*node.op)) return false;
    bool can = true;
    for_each_argument(node, [&](ValueId id) { can = can && constants_[index(id)].defined(); });
    for_each_result(node, [&](ValueId id) { can = can && !is_changing_[memory_at(id)]; });
    return can;
  }
  // Views of constants are calls still: they cost a plan nothing.
  bool is_view(const Node& node) const {
    bool is_view = false;
    for_each_result(node, [&](ValueId id) { is_view = is_view || memory_of(graph_, id) != id; });
    return is_view;
  }

  void make(const Node& node) {
    const FunctionSchema& schema = node.op->schema();
    const auto constant = [&](ValueId id) -> const TensorBase& { return constants_[index(id)]; };
    Stack stack = with_tensors(schema.arguments(), node.arguments, constant);
    {
      const ExcludeDispatchKeyGuard kernels_alone(kAutogradKeys | DispatchKeySet(Functionality::ADInplaceOrView) |
                                                  DispatchKeySet(Functionality::Autocast));
      call_boxed(*node.op, stack);
    }
    const bool views = is_view(node);
    take_results(schema.returns(), node.results, stack, [&](ValueId id, const TensorBase& tensor) {
      constants_[index(id)] = tensor;
      is_made_[index(id)] = !views;
    });
  }

  // What was made, and calls that are left use.
  void add_inputs() {
    std::vector<bool> is_used(graph_.values.size());
    for (const Node& node : result_.nodes) for_each_argument(node, [&](ValueId id) { is_used[index(id)] = true; });
    for (std::size_t id = 0; id < is_made_.size(); ++id) {
      if (!is_made_[id] || !is_used[id]) continue;
      Input input{static_cast<ValueId>(id)};
      input.is_state = true;
      input.state = Tensor(constants_[id]);
      result_.inputs.push_back(std::move(input));
    }
  }

  const Graph& graph_;
  Graph result_;
  std::vector<TensorBase> constants_;  // of values that are known; else undefined
  // Of the first value in a memory: whether the program writes to it or leaves it. Of a value: whether it was made, in
  // memory of its own.
  std::vector<bool> is_changing_, is_made_;
};

}  // namespace

Graph freeze(const Graph& graph) {
  KEYWAY_CHECK(graph.level == Level::Executed, "only a graph of what is executed can be frozen");
  return Freezer(graph).frozen();
}

}  // namespace keyway::inline v1::graph
