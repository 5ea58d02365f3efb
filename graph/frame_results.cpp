#include <keyway/dispatch/call/call.h>
#include <keyway/graph/boxed_values.h>
#include <keyway/graph/frame_results.h>
#include <keyway/graph/node_values.h>
#include <keyway/graph/run.h>
#include <keyway/ops/view.h>

#include <algorithm>

namespace keyway::inline v1::graph {

bool is_view(const Graph& graph, const Node& node) {
  const FunctionSchema& schema = node.op->schema();
  if (!schema.is_alias() || schema.is_mutable()) return false;
  std::vector<ValueId> memories;
  for_each_argument(node, [&](ValueId id) { memories.push_back(memory_of(graph, id)); });
  bool all = true;
  for_each_value(schema.returns(), node.results, [&](ValueId id) {
    all = all && id != kNoValue && std::ranges::find(memories, memory_of(graph, id)) != memories.end();
  });
  return all;
}

FrameResults::FrameResults(const Graph& graph, const std::vector<TensorBase>& tensors)
    : graph_(graph), tensors_(tensors) {
  std::vector<bool> is_needed(graph.values.size()), is_of_input(graph.values.size());
  for (const Input& input : graph.inputs) is_of_input[index(memory_of(graph, input.value))] = true;
  for (const ValueId id : graph.outputs) {
    if (id != kNoValue) is_needed[index(id)] = true;
  }
  for (const LeafGrad& grad : graph.grads) {  // of others nobody asks what they are views of
    if (grad.grad != kNoValue && is_of_input[index(memory_of(graph, grad.grad))]) is_needed[index(grad.grad)] = true;
  }
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    bool gives_needed = false;
    for_each_result(*node, [&](ValueId id) { gives_needed = gives_needed || is_needed[index(id)]; });
    if (!gives_needed || !is_view(graph, *node)) continue;
    view_calls_.push_back(&*node);
    for_each_argument(*node, [&](ValueId id) { is_needed[index(id)] = true; });
  }
  std::ranges::reverse(view_calls_);
}

Tensor& FrameResults::value(ValueId id, std::vector<Tensor>& known) const {
  Tensor& value = known[index(id)];
  if (!value.defined()) value = Tensor(make_view(tensors_[index(id)]));
  return value;
}

std::vector<Tensor> FrameResults::of(const std::vector<Tensor>& inputs) const {
  std::vector<Tensor> known(graph_.values.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) known[index(graph_.inputs[i].value)] = inputs[i];
  for (const Node* const node : view_calls_) {
    const FunctionSchema& schema = node->op->schema();
    Stack stack = with_tensors(schema.arguments(), node->arguments, [&](ValueId id) { return value(id, known); });
    call_boxed(*node->op, stack);
    take_results(schema.returns(), node->results, stack, [&](ValueId id, const TensorBase& result) {
      if (!known[index(id)].defined()) known[index(id)] = Tensor(result);
    });
  }
  const auto result = [&](ValueId id) { return id == kNoValue ? Tensor() : value(id, known); };
  for (const LeafGrad& grad : graph_.grads) leave_grad(known[index(grad.leaf)], result(grad.grad));
  std::vector<Tensor> results;
  for (const ValueId id : graph_.outputs) results.push_back(result(id));
  return results;
}

}  // namespace keyway::inline v1::graph
