#include <keyway/autograd/variable.h>
#include <keyway/dispatch/call/call.h>
#include <keyway/graph/door.h>
#include <keyway/graph/node_values.h>
#include <keyway/graph/run.h>

#include <algorithm>

namespace keyway::inline v1::graph {
namespace {

// For each call the values that no later one uses.
std::vector<std::vector<ValueId>> last_uses(const Graph& graph) {
  constexpr std::size_t kKept = ~std::size_t{0};
  std::vector<std::size_t> last(graph.values.size(), kKept);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const auto use = [&](ValueId id) { last[index(id)] = i; };
    for_each_argument(graph.nodes[i], use);
    for_each_result(graph.nodes[i], use);
  }
  for_each_left(graph, [&](ValueId id) { last[index(id)] = kKept; });
  std::vector<std::vector<ValueId>> ended(graph.nodes.size());
  for (std::size_t id = 0; id < last.size(); ++id) {
    if (last[id] != kKept) ended[last[id]].push_back(static_cast<ValueId>(id));
  }
  return ended;
}

// Makes the calls. `ended` are the values that no call after each uses; an observer sees each call.
std::vector<Tensor> make_calls(const Graph& graph, const std::vector<std::vector<ValueId>>& ended,
                               const std::vector<Tensor>& inputs, const Interpreter::Observer& observer = {}) {
  std::vector<Tensor> values(graph.values.size());
  const auto tensor_of = [&](ValueId id) -> Tensor& { return values[index(id)]; };
  for (std::size_t i = 0; i < inputs.size(); ++i) tensor_of(graph.inputs[i].value) = inputs[i];
  // What stands above the level has done its part in the capture.
  DispatchKeySet above_level = DispatchKeySet(Functionality::Autocast);
  if (graph.level == Level::Executed) above_level = above_level | kAutogradKeys;
  const ExcludeDispatchKeyGuard above(above_level);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    const FunctionSchema& schema = node.op->schema();
    const AutoGradMode mode(graph.level == Level::Program ? !node.no_grad : grad_enabled());
    Stack stack = with_tensors(schema.arguments(), node.arguments, tensor_of);
    if (observer) observer(i, false);
    call_boxed(*node.op, stack);
    if (observer) observer(i, true);
    take_results(schema.returns(), node.results, stack,
                 [&](ValueId id, const TensorBase& tensor) { tensor_of(id) = Tensor(tensor); });
    for (const ValueId id : ended[i]) tensor_of(id) = Tensor();
  }
  for (const LeafGrad& grad : graph.grads)
    leave_grad(tensor_of(grad.leaf), grad.grad == kNoValue ? Tensor() : tensor_of(grad.grad));
  std::vector<Tensor> outputs;
  for (const ValueId id : graph.outputs) outputs.push_back(id == kNoValue ? Tensor() : tensor_of(id));
  return outputs;
}

}  // namespace

void leave_grad(const Tensor& leaf, const Tensor& grad) {
  KEYWAY_CHECK(!grad.defined() ||
                   (grad.sizes() == leaf.sizes() && grad.dtype() == leaf.dtype() && grad.device() == leaf.device()),
               "the gradient of a leaf that is {} is {}: it must have the same dtype, device and sizes",
               TensorInfo(leaf), TensorInfo(grad));
  autograd::set_grad(leaf, grad);
}

std::optional<std::string> mismatch(const Graph& graph, ArrayRef<Tensor> arguments) {
  return Door(graph).mismatch(arguments);
}

std::vector<Tensor> run(const Graph& graph, ArrayRef<Tensor> arguments) {
  const Door door(graph);
  if (const std::optional<std::string> why = door.mismatch(arguments))
    KEYWAY_FAIL(Value, "the graph does not hold for this call: {}", *why);
  return make_calls(graph, last_uses(graph), door.inputs(arguments));
}

std::vector<Tensor> run_inputs(const Graph& graph, const std::vector<Tensor>& inputs) {
  return make_calls(graph, last_uses(graph), inputs);
}

Interpreter::Interpreter(Graph graph) : graph_(std::move(graph)), door_(graph_), ended_(last_uses(graph_)) {}

std::optional<std::string> Interpreter::try_run(ArrayRef<Tensor> arguments, std::vector<Tensor>& results) const {
  if (arguments.size() != graph_.argument_count()) return door_.mismatch(arguments);
  const std::vector<Tensor> inputs = door_.inputs(arguments);
  if (std::optional<std::string> why = door_.input_mismatch(inputs)) return why;
  results = make_calls(graph_, ended_, inputs);
  return std::nullopt;
}

std::vector<Tensor> Interpreter::run_inputs(const std::vector<Tensor>& inputs) const {
  return make_calls(graph_, ended_, inputs);
}

std::vector<Tensor> Interpreter::run(ArrayRef<Tensor> arguments, const Observer& observer) const {
  if (const std::optional<std::string> why = mismatch(arguments))
    KEYWAY_FAIL(Value, "the graph does not hold for this call: {}", *why);
  return make_calls(graph_, ended_, door_.inputs(arguments), observer);
}

std::vector<Tensor> Interpreter::run(ArrayRef<Tensor> arguments) const {
  std::vector<Tensor> results;
  if (const std::optional<std::string> why = try_run(arguments, results))
    KEYWAY_FAIL(Value, "the graph does not hold for this call: {}", *why);
  return results;
}

}  // namespace keyway::inline v1::graph
