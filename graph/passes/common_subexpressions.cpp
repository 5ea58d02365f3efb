#include <keyway/core/schema/schema.h>
#include <keyway/dispatch/call/operator_entry.h>
#include <keyway/graph/effects.h>
#include <keyway/graph/passes/common_subexpressions.h>
#include <keyway/graph/same_graph.h>

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace keyway::inline v1::graph {
namespace {

class Merger {
 public:
  explicit Merger(const Graph& graph)
      : graph_(graph), same_(graph.values.size()), memory_(graph.values.size()), result_(without_calls(graph)) {
    std::iota(same_.begin(), same_.end(), ValueId{0});
    for (std::size_t i = 0; i < memory_.size(); ++i) memory_[i] = graph.values[i].memory;
    for (std::vector<bool>* flags : {&is_left_, &has_left_, &is_written_, &is_changed_}) flags->resize(same_.size());
    versions_.resize(same_.size());
    for_each_left(graph, [this](ValueId id) { is_left_[index(id)] = has_left_[index(memory_[index(id)])] = true; });
    for (const Node& node : graph.nodes) {
      for_each_written(node, [&](ValueId id) {
        is_written_[index(memory_[index(id)])] = true;
        if (changes_tensor(*node.op)) is_changed_[index(memory_[index(id)])] = true;
      });
    }
  }

  Graph merged() {
    result_.nodes.reserve(graph_.nodes.size());
    for (const Node& node : graph_.nodes) {
      const FunctionSchema& schema = node.op->schema();
      Node call{node.op, with_same(schema.arguments(), node.arguments), with_same(schema.returns(), node.results),
                node.site, node.no_grad};
      if (!merge(call)) result_.nodes.push_back(std::move(call));
      for_each_written(node, [&](ValueId id) { ++versions_[index(memory_[index(id)])]; });
    }
    for (LeafGrad& grad : result_.grads) grad = {of(grad.leaf), of(grad.grad)};
    for (ValueId& output : result_.outputs) output = of(output);
    for (std::size_t i = 0; i < memory_.size(); ++i) result_.values[i].memory = memory_[i];
    return renumbered(std::move(result_));
  }

 private:
  // A pure call of the result, and how often what it takes had been written to.
  struct Made {
    std::size_t number;
    std::vector<std::uint64_t> versions;
  };

  ValueId of(ValueId id) const { return id == kNoValue ? id : same_[index(id)]; }
  Stack with_same(const ArgumentList& arguments, const Stack& values) const {
    return with_values(arguments, values, [this](ValueId id) { return of(id); });
  }

  // How often the tensors that a call takes were written to so far.
  std::vector<std::uint64_t> versions_of(const Node& call) const {
    std::vector<std::uint64_t> versions;
    for_each_argument(call, [&](ValueId id) { versions.push_back(versions_[index(memory_[index(id)])]); });
    return versions;
  }

  // Whether one value can stand for another one that is equal.
  bool can_stand_for(ValueId first, ValueId id) const {
    if (first == id) return true;
    if (first == kNoValue || id == kNoValue) return false;
    if (info_of(graph_, first) != info_of(graph_, id)) return false;
    if (is_left_[index(first)] && is_left_[index(id)]) return false;
    const ValueId memory = memory_[index(first)], other = memory_[index(id)];
    // A view of the same memory is the same if it stays what it is.
    if (memory == other)
      return !is_changed_[index(memory)] && (graph_.level == Level::Executed || !is_written_[index(memory)]);
    return !is_written_[index(memory)] && !is_written_[index(other)] &&
           !(has_left_[index(memory)] && has_left_[index(other)]);
  }

  // Whether an earlier call stands for this one from now on; else it is the next one of the result.
  bool merge(const Node& call) {
    if (!is_pure(call)) return false;
    const std::uint64_t hash = hash_of(call);
    const std::vector<std::uint64_t> versions = versions_of(call);
    const auto [begin, end] = made_.equal_range(hash);
    const auto found = std::find_if(begin, end, [&](const auto& made) {
      return made.second.versions == versions && is_same_call(result_.nodes[made.second.number], call);
    });
    if (found == end) {
      made_.emplace(hash, Made{result_.nodes.size(), versions});
      return false;
    }
    const ArgumentList returns = call.op->schema().returns();
    const std::vector<ValueId> first = values_of(returns, result_.nodes[found->second.number].results),
                               results = values_of(returns, call.results);
    if (!std::ranges::equal(first, results, [this](ValueId a, ValueId b) { return can_stand_for(a, b); })) return false;
    for (std::size_t i = 0; i < results.size(); ++i) stand_for(first[i], results[i]);
    return true;
  }
  void stand_for(ValueId first, ValueId id) {
    if (first == id) return;
    same_[index(id)] = first;
    const ValueId memory = memory_[index(first)], other = memory_[index(id)];
    if (is_left_[index(id)]) is_left_[index(first)] = true;
    if (memory == other) return;
    if (has_left_[index(other)]) has_left_[index(memory)] = true;
    std::ranges::replace(memory_, other, memory);
  }

  const Graph& graph_;
  std::vector<ValueId> same_;    // what stands for each value
  std::vector<ValueId> memory_;  // of each value: the first in its memory
  // Of values: whether the program leaves it. Of the first value in a memory: whether it leaves one in it, whether
  // that is written to, whether one in it is changed beside its elements, and how often it was written to so far.
  std::vector<bool> is_left_, has_left_, is_written_, is_changed_;
  std::vector<std::uint64_t> versions_;
  std::unordered_multimap<std::uint64_t, Made> made_;  // by the hash of the call
  Graph result_;
};

}  // namespace

Graph eliminate_common_subexpressions(const Graph& graph) { return Merger(graph).merged(); }

}  // namespace keyway::inline v1::graph
