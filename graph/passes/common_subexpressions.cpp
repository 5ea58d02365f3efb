#include <keyway/core/schema/schema.h>
#include <keyway/dispatch/call/operator_entry.h>
#include <keyway/graph/effects.h>
#include <keyway/graph/passes/common_subexpressions.h>
#include <keyway/graph/value_text.h>

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <unordered_map>

namespace keyway::inline v1::graph {
namespace {

class Merger {
 public:
  explicit Merger(const Graph& graph) : graph_(graph), same_(graph.values.size()), memory_(graph.values.size()) {
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
    Graph result = graph_;
    result.nodes.clear();
    for (const Node& node : graph_.nodes) {
      Node call = node;
      call.arguments = with_same(node.op->schema().arguments(), node.arguments);
      call.results = with_same(node.op->schema().returns(), node.results);
      if (!merge(call)) result.nodes.push_back(std::move(call));
      for_each_written(node, [&](ValueId id) { ++versions_[index(memory_[index(id)])]; });
    }
    for (LeafGrad& grad : result.grads) grad = {of(grad.leaf), of(grad.grad)};
    for (ValueId& output : result.outputs) output = of(output);
    for (std::size_t i = 0; i < memory_.size(); ++i) result.values[i].memory = memory_[i];
    return renumbered(result);
  }

 private:
  ValueId of(ValueId id) const { return id == kNoValue ? id : same_[index(id)]; }
  Stack with_same(const ArgumentList& arguments, const Stack& values) const {
    return with_values(arguments, values, [this](ValueId id) { return of(id); });
  }

  // What a call is and takes, with the number of writes to each tensor; empty if that cannot be told.
  std::string key_of(const Node& call) const {
    const ArgumentList arguments = call.op->schema().arguments();
    std::string key = fmt::format("{}{}", static_cast<const void*>(call.op), call.no_grad ? " no_grad" : "");
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const std::string text = text_of(arguments[i].type(), call.arguments[i]);
      if (text.find('<') != std::string::npos) return {};  // an object
      key += "\n" + text;
      for_each_value_of(arguments[i], call.arguments[i],
                        [&](ValueId id) { key += fmt::format("@{}", versions_[index(memory_[index(id)])]); });
    }
    return key;
  }

  static std::vector<ValueId> results_of(const Node& call) {
    std::vector<ValueId> ids;
    for_each_value(call.op->schema().returns(), call.results, [&](ValueId id) { ids.push_back(id); });
    return ids;
  }

  // Whether one value can stand for another one that is equal.
  bool can_stand_for(ValueId first, ValueId id) const {
    if (first == id) return true;
    if (first == kNoValue || id == kNoValue) return false;
    if (graph_.values[index(first)].info != graph_.values[index(id)].info) return false;
    if (is_left_[index(first)] && is_left_[index(id)]) return false;
    const ValueId memory = memory_[index(first)], other = memory_[index(id)];
    // A view of the same memory is the same if it stays what it is.
    if (memory == other)
      return !is_changed_[index(memory)] && (graph_.level == Level::Executed || !is_written_[index(memory)]);
    return !is_written_[index(memory)] && !is_written_[index(other)] &&
           !(has_left_[index(memory)] && has_left_[index(other)]);
  }

  // Whether an earlier call stands for this one from now on.
  bool merge(const Node& call) {
    if (!is_pure(*call.op)) return false;
    const std::string key = key_of(call);
    if (key.empty()) return false;
    const std::vector<ValueId> results = results_of(call);
    const auto [found, is_new] = made_.try_emplace(key, results);
    if (is_new) return false;
    const std::vector<ValueId>& first = found->second;
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
  std::unordered_map<std::string, std::vector<ValueId>> made_;
};

}  // namespace

Graph eliminate_common_subexpressions(const Graph& graph) { return Merger(graph).merged(); }

}  // namespace keyway::inline v1::graph
