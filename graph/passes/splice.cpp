#include <keyway/dispatch/call/operator_entry.h>
#include <keyway/graph/add_call.h>
#include <keyway/graph/effects.h>
#include <keyway/graph/passes/geometry.h>
#include <keyway/graph/passes/splice.h>

#include <algorithm>
#include <numeric>

namespace keyway::inline v1::graph {
namespace {

void note_results(const std::string& what, const Node& node, const Stack& results, std::vector<ValueId>& made) {
  const ArgumentList returns = node.op->schema().returns();
  std::vector<ValueId> theirs, ids;
  for_each_value(returns, node.results, [&](ValueId id) { theirs.push_back(id); });
  for_each_value(returns, results, [&](ValueId id) { ids.push_back(id); });
  KEYWAY_CHECK(theirs.size() == ids.size(), "{}: {} gives {} tensors here, not {}", what, node.op->short_name(),
               ids.size(), theirs.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (theirs[i] != kNoValue) made[index(theirs[i])] = ids[i];
  }
}

}  // namespace

Splicer::Splicer(const Graph& graph) : graph_(graph), new_(graph), now_(graph.values.size()) {
  new_.nodes.clear();
  std::iota(now_.begin(), now_.end(), ValueId{0});
}

// What it gives may lie in memory of a result that is another one now.
void Splicer::add(const Node& node) {
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

void Splicer::add(const Part& part) {
  const Graph& other = part.graph;
  std::vector<ValueId> made(other.values.size(), kNoValue);  // for each value of the part
  std::size_t argument = 0;
  for (const Input& input : other.inputs) {
    if (!input.is_state) {
      made[index(input.value)] = of(part.arguments[argument++]);
      continue;
    }
    const TensorInfo& info = other.values[index(input.value)].info;
    made[index(input.value)] = add_value(new_, info);
    new_.inputs.push_back(input);
    new_.inputs.back().value = made[index(input.value)];
  }
  for (const Node& node : other.nodes) {
    for_each_argument(node, [&](ValueId id) {
      KEYWAY_CHECK(made[index(id)] != kNoValue, "{} uses an argument that what it replaces does not, in {}", part.what,
                   node.op->short_name());
    });
    const Stack results = add_call(new_, *node.op,
                                   with_values(node.op->schema().arguments(), node.arguments,
                                               [&](ValueId id) { return id == kNoValue ? id : made[index(id)]; }),
                                   part.site.site);
    new_.nodes.back().no_grad = part.site.no_grad || (graph_.level == Level::Program && node.no_grad);
    note_results(part.what, node, results, made);
  }
  for (std::size_t i = 0; i < part.results.size(); ++i) {
    if (part.results[i] == kNoValue) continue;
    const ValueId result = other.outputs[i];
    KEYWAY_CHECK(result != kNoValue && made[index(result)] != kNoValue, "{} gives no tensor as result {}", part.what,
                 i);
    stand_for(made[index(result)], part.results[i], part);
  }
}

// From now on a result of the part stands for one of the graph.
void Splicer::stand_for(ValueId id, ValueId old, const Part& part) {
  const TensorInfo& expected = graph_.values[index(old)].info;
  if (std::ranges::find(part.arguments, old) != part.arguments.end()) {  // an argument, which the call gave itself
    KEYWAY_CHECK(
        memory_of(new_, id) == memory_of(new_, of(old)) && same_geometry(new_.values[index(id)].info, expected),
        "{} gives another tensor in the place of an argument", part.what);
    return;
  }
  const bool is_own = memory_of(graph_, old) == old;
  const TensorInfo& first = new_.values[index(id)].info;
  if (part.may_copy && is_own && first.dtype == expected.dtype && first.sizes == expected.sizes &&
      !same_geometry(first, expected))
    id = add_copy(new_, id, expected, part.site.site);
  // What was a tensor of its own stays one, and what had memory of its own has that.
  const auto is_first = [&](ValueId value) { return value < static_cast<ValueId>(graph_.values.size()); };
  const ValueId memory = memory_of(new_, id);
  const bool is_fresh = !is_first(memory) &&
                        std::ranges::find(new_.inputs, memory, &Input::value) == new_.inputs.end() &&
                        std::ranges::none_of(given_, [&](ValueId given) { return memory_of(new_, given) == memory; });
  if (is_own && !is_fresh)
    id = add_call(new_, "clone", {IValue(id)}, part.site.site);
  else if (is_first(id) || std::ranges::find(given_, id) != given_.end())
    id = add_call(new_, "alias", {IValue(id)}, part.site.site);
  TensorInfo info = new_.values[index(id)].info;
  KEYWAY_CHECK(info.dtype == expected.dtype && info.device == expected.device && same_geometry(info, expected),
               "{} gives {} in the place of {}", part.what, to_string(info), to_string(expected));
  KEYWAY_CHECK(is_own || memory_of(new_, id) == memory_of(new_, of(memory_of(graph_, old))),
               "{} gives a tensor in other memory in the place of a view, which writes would show", part.what);
  new_.values[index(id)].info.requires_grad = expected.requires_grad;
  given_.push_back(id);
  now_[index(old)] = id;
}

Graph Splicer::result() {
  for (LeafGrad& grad : new_.grads) grad = {of(grad.leaf), of(grad.grad)};
  for (ValueId& output : new_.outputs) output = of(output);
  return renumbered(std::move(new_));
}

}  // namespace keyway::inline v1::graph
