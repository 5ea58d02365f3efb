#include <keyway/core/schema/schema.h>
#include <keyway/dispatch/call/operator_entry.h>
#include <keyway/graph/add_call.h>
#include <keyway/graph/effects.h>
#include <keyway/graph/passes/dead_code.h>
#include <keyway/graph/passes/geometry.h>
#include <keyway/graph/passes/match.h>
#include <keyway/graph/passes/replace.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace keyway::inline v1::graph {
namespace {

void check_replacement(const Graph& graph, const Graph& pattern, const Graph& replacement) {
  KEYWAY_CHECK(pattern.level == graph.level && replacement.level == graph.level,
               "replace: the graph, the pattern and the replacement are not all of one level");
  KEYWAY_CHECK(replacement.argument_count() == replacement.inputs.size(),
               "replace: the replacement uses a tensor that is no argument of it");
  KEYWAY_CHECK(replacement.inputs.size() == pattern.inputs.size() &&
                   replacement.outputs.size() == pattern.outputs.size() && replacement.grads.empty(),
               "replace: the replacement has {} arguments and {} results, but the pattern has {} and {}",
               replacement.inputs.size(), replacement.outputs.size(), pattern.inputs.size(), pattern.outputs.size());
  for (const Node& node : replacement.nodes) {
    KEYWAY_CHECK(!node.op->schema().is_mutable(), "replace: the replacement calls {}, which writes",
                 node.op->short_name());
  }
}

// Makes the graph call by call, with replacements in the place of matches.
class Replacer {
 public:
  Replacer(const Graph& graph, const Graph& pattern, const Graph& replacement)
      : graph_(graph), pattern_(pattern), replacement_(replacement), new_(graph), now_(graph.values.size()) {
    new_.nodes.clear();
    std::iota(now_.begin(), now_.end(), ValueId{0});
    find();
  }

  Replaced replaced() {
    for (std::size_t node = 0; node < graph_.nodes.size(); ++node) {
      if (!is_taken_[node]) add_other(graph_.nodes[node]);
      const auto match = matches_.find(node);
      if (match != matches_.end()) add(match->second);
    }
    for (LeafGrad& grad : new_.grads) grad = {of(grad.leaf), of(grad.grad)};
    for (ValueId& output : new_.outputs) output = of(output);
    return {renumbered(new_), matches_.size()};
  }

 private:
  ValueId of(ValueId id) const { return id == kNoValue ? id : now_[index(id)]; }

  void find() {
    const Matcher matcher(graph_, pattern_);
    is_taken_.resize(graph_.nodes.size());
    for (std::size_t node = 0; node < graph_.nodes.size(); ++node) {
      std::optional<Match> match = matcher.match(node, is_taken_);
      if (!match) continue;
      for (const std::size_t taken : match->nodes) is_taken_[taken] = true;
      matches_.emplace(match->last(), std::move(*match));
    }
  }

  // A call that stays. What it gives may lie in memory of a result that is another one now.
  void add_other(const Node& node) {
    Node call = node;
    call.arguments = with_values(node.op->schema().arguments(), node.arguments, [this](ValueId id) { return of(id); });
    call.results = with_values(node.op->schema().returns(), node.results, [this](ValueId id) { return of(id); });
    for_each_result(node, [&](ValueId result) {
      for_each_argument(node, [&](ValueId argument) {
        if (now_[index(result)] == result && argument != result &&
            memory_of(graph_, argument) == memory_of(graph_, result))
          new_.values[index(result)].memory = memory_of(new_, of(argument));
      });
    });
    new_.nodes.push_back(std::move(call));
  }

  void add(const Match& match) {
    std::vector<ValueId> made(replacement_.values.size(), kNoValue);  // for each value of the replacement
    for (std::size_t i = 0; i < pattern_.inputs.size(); ++i)
      made[index(replacement_.inputs[i].value)] = of(match.values[index(pattern_.inputs[i].value)]);
    const Node& site = graph_.nodes[match.last()];
    for (const Node& node : replacement_.nodes) {
      const ArgumentList arguments = node.op->schema().arguments();
      for_each_argument(node, [&](ValueId id) {
        KEYWAY_CHECK(made[index(id)] != kNoValue,
                     "replace: {} of the replacement uses an argument that the pattern does not",
                     node.op->short_name());
      });
      const Stack results = add_call(
          new_, *node.op,
          with_values(arguments, node.arguments, [&](ValueId id) { return id == kNoValue ? id : made[index(id)]; }),
          site.site);
      new_.nodes.back().no_grad = site.no_grad;
      note_results(node, results, made);
    }
    for (std::size_t i = 0; i < pattern_.outputs.size(); ++i)
      stand_for(made, replacement_.outputs[i], match.values[index(pattern_.outputs[i])], site.site);
  }

  static void note_results(const Node& node, const Stack& results, std::vector<ValueId>& made) {
    const ArgumentList returns = node.op->schema().returns();
    std::vector<ValueId> theirs, ids;
    for_each_value(returns, node.results, [&](ValueId id) { theirs.push_back(id); });
    for_each_value(returns, results, [&](ValueId id) { ids.push_back(id); });
    KEYWAY_CHECK(theirs.size() == ids.size(), "replace: {} of the replacement gives {} tensors here, not {}",
                 node.op->short_name(), ids.size(), theirs.size());
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (theirs[i] != kNoValue) made[index(theirs[i])] = ids[i];
    }
  }

  // From now on a result of the replacement stands for one of the graph.
  void stand_for(const std::vector<ValueId>& made, ValueId result, ValueId old, const std::string& site) {
    ValueId id = result == kNoValue ? kNoValue : made[index(result)];
    KEYWAY_CHECK(id != kNoValue, "replace: a result of the replacement is no tensor");
    // What was a tensor of its own stays one, and what had memory of its own has that.
    const bool is_new =
        id >= static_cast<ValueId>(graph_.values.size()) && std::ranges::find(given_, id) == given_.end();
    if (memory_of(graph_, old) == old && (!is_new || memory_of(new_, id) != id))
      id = add_call(new_, "clone", {IValue(id)}, site);
    else if (!is_new)
      id = add_call(new_, "alias", {IValue(id)}, site);
    TensorInfo info = new_.values[index(id)].info;
    const TensorInfo& expected = graph_.values[index(old)].info;
    KEYWAY_CHECK(info.dtype == expected.dtype && info.device == expected.device && same_geometry(info, expected),
                 "replace: the replacement gives {}, but the pattern gave {}", to_string(info), to_string(expected));
    new_.values[index(id)].info.requires_grad = expected.requires_grad;
    given_.push_back(id);
    now_[index(old)] = id;
  }

  const Graph& graph_;
  const Graph& pattern_;
  const Graph& replacement_;
  Graph new_;
  std::vector<ValueId> now_;  // of each value of the graph, what stands for it
  std::vector<bool> is_taken_;
  std::map<std::size_t, Match> matches_;  // by their last call
  std::vector<ValueId> given_;            // what stands for results
};

}  // namespace

Replaced replace(const Graph& graph, const Graph& pattern, const Graph& replacement) {
  check_replacement(graph, pattern, replacement);
  const Graph live_pattern = eliminate_dead_code(pattern), live_replacement = eliminate_dead_code(replacement);
  return Replacer(graph, live_pattern, live_replacement).replaced();
}

}  // namespace keyway::inline v1::graph
