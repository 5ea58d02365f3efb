#include <keyway/autograd/variable.h>
#include <keyway/dispatch/call/call.h>
#include <keyway/graph/run.h>

#include <algorithm>
#include <fmt/format.h>

namespace keyway::inline v1::graph {
namespace {

std::string name_of(const Graph& graph, std::size_t number) {
  const Input& input = graph.inputs[number];
  const std::string which = input.grad_of != kNoValue ? "the gradient of a leaf"
                            : input.is_state          ? "the state"
                                                      : fmt::format("argument {}", number);
  return input.name.empty() ? which : fmt::format("{} '{}'", which, input.name);
}

// The tensors of the inputs, in their order.
std::vector<Tensor> inputs_of(const Graph& graph, ArrayRef<Tensor> arguments) {
  std::vector<Tensor> tensors;
  for (const Input& input : graph.inputs) tensors.push_back(input.is_state ? input.state : arguments[tensors.size()]);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (graph.inputs[i].grad_of == kNoValue) continue;
    const auto leaf = std::ranges::find(graph.inputs, graph.inputs[i].grad_of, &Input::value);
    tensors[i] = autograd::grad_of(tensors[static_cast<std::size_t>(leaf - graph.inputs.begin())]);
  }
  return tensors;
}

std::optional<std::string> input_mismatch(const Graph& graph, const std::vector<Tensor>& inputs, std::size_t number) {
  const Tensor& tensor = inputs[number];
  const Value& value = graph.values[static_cast<std::size_t>(graph.inputs[number].value)];
  if (!tensor.defined()) return fmt::format("{} is undefined", name_of(graph, number));
  const std::optional<bool> has_grad = graph.inputs[number].has_grad;
  if (has_grad && autograd::grad_of(tensor).defined() != *has_grad)
    return fmt::format("{} has {} gradient, as it had {} in the capture", name_of(graph, number),
                       *has_grad ? "no" : "a", *has_grad ? "one" : "none");
  const TensorInfo info(tensor);
  if (info != value.info)
    return fmt::format("{} is {}, but was {} in the capture", name_of(graph, number), to_string(info),
                       to_string(value.info));
  const DispatchKeySet keys = tensor.key_set();
  if (keys.has(Functionality::Batched) || keys.has(Functionality::ForwardAD) || keys.has(Functionality::Python))
    return fmt::format("{} is a tensor of vmap, forward mode or a wrapper", name_of(graph, number));
  for (std::size_t earlier = 0; earlier < number; ++earlier) {
    const Value& other = graph.values[static_cast<std::size_t>(graph.inputs[earlier].value)];
    const bool is_same = graph.inputs[earlier].value == graph.inputs[number].value;
    if (tensor.is_same(inputs[earlier]) != is_same)
      return fmt::format("{} and {} {} one tensor, as they were{} in the capture", name_of(graph, number),
                         name_of(graph, earlier), is_same ? "are not" : "are", is_same ? "" : " not");
    const bool shares = tensor.is_alias_of(inputs[earlier]), shared = other.memory == value.memory;
    if (shares != shared)
      return fmt::format("{} {} memory with {}, as it did{} in the capture", name_of(graph, number),
                         shares ? "shares" : "shares no", name_of(graph, earlier), shared ? "" : " not");
  }
  return std::nullopt;
}

std::optional<std::string> surroundings_mismatch(const Surroundings& then) {
  const Surroundings now = Surroundings::now();
  if (now == then) return std::nullopt;
  if (now.grad_enabled != then.grad_enabled)
    return fmt::format("gradients are {}recorded, but were {}in the capture", now.grad_enabled ? "" : "not ",
                       then.grad_enabled ? "" : "not ");
  if (now.inference != then.inference) return "inference mode is not as it was in the capture";
  if (now.default_dtype != then.default_dtype)
    return fmt::format("the default dtype is {}, but was {} in the capture", to_string(now.default_dtype),
                       to_string(then.default_dtype));
  return "autocast is not as it was in the capture";
}

// For each call the values that no later one uses.
std::vector<std::vector<ValueId>> last_uses(const Graph& graph) {
  constexpr std::size_t kKept = ~std::size_t{0};
  std::vector<std::size_t> last(graph.values.size(), kKept);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const auto use = [&](ValueId id) {
      if (id != kNoValue) last[static_cast<std::size_t>(id)] = i;
    };
    for_each_value(graph.nodes[i].op->schema().arguments(), graph.nodes[i].arguments, use);
    for_each_value(graph.nodes[i].op->schema().returns(), graph.nodes[i].results, use);
  }
  const auto keep = [&](ValueId id) {
    if (id != kNoValue) last[static_cast<std::size_t>(id)] = kKept;
  };
  std::ranges::for_each(graph.outputs, keep);
  for (const LeafGrad& grad : graph.grads) {
    keep(grad.leaf);
    keep(grad.grad);
  }
  std::vector<std::vector<ValueId>> ended(graph.nodes.size());
  for (std::size_t id = 0; id < last.size(); ++id) {
    if (last[id] != kKept) ended[last[id]].push_back(static_cast<ValueId>(id));
  }
  return ended;
}

// The tensors of the values that are there now.
class Tensors {
 public:
  explicit Tensors(std::size_t count) : tensors_(count) {}

  Tensor& operator[](ValueId id) { return tensors_[static_cast<std::size_t>(id)]; }
  // Arguments of a call, with tensors for their numbers.
  Stack filled(const ArgumentList& arguments, const Stack& numbered) const {
    Stack values = numbered;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i].is_none() || !is_of_tensors(arguments[i].type())) continue;
      if (values[i].is(ValueTag::Int)) {
        values[i] = IValue(TensorBase(at(values[i].to_int())));
      } else if (values[i].is(ValueTag::IntList)) {
        values[i] = IValue(list_of(values[i].to_int_list()));
      } else {
        std::vector<std::vector<TensorBase>> lists;
        for (const std::vector<ValueId>& list : values[i].to_list_of<std::vector<ValueId>>())
          lists.push_back(list_of(list));
        values[i] = IValue(std::move(lists));
      }
    }
    return values;
  }
  // What a call gave, by the numbers of its results.
  void take(const ArgumentList& returns, const Stack& numbered, const Stack& results) {
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (numbered[i].is_none() || !is_of_tensors(returns[i].type())) continue;
      if (numbered[i].is(ValueTag::Int)) {
        (*this)[numbered[i].to_int()] = Tensor(results[i].to_tensor());
      } else {
        const std::vector<ValueId>& ids = numbered[i].to_int_list();
        const std::vector<TensorBase>& tensors = results[i].to_tensor_list();
        KEYWAY_CHECK(ids.size() == tensors.size(), "the call gives {} tensors, but gave {} in the capture",
                     tensors.size(), ids.size());
        for (std::size_t j = 0; j < ids.size(); ++j) {
          if (ids[j] != kNoValue) (*this)[ids[j]] = Tensor(tensors[j]);
        }
      }
    }
  }

 private:
  TensorBase at(ValueId id) const {
    if (id == kNoValue) return {};
    return tensors_[static_cast<std::size_t>(id)];
  }
  std::vector<TensorBase> list_of(const std::vector<ValueId>& ids) const {
    std::vector<TensorBase> list;
    for (const ValueId id : ids) list.push_back(at(id));
    return list;
  }
  std::vector<Tensor> tensors_;
};

}  // namespace

std::optional<std::string> mismatch(const Graph& graph, ArrayRef<Tensor> arguments) {
  if (arguments.size() != graph.argument_count())
    return fmt::format("there are {} arguments, but were {} in the capture", arguments.size(), graph.argument_count());
  if (std::optional<std::string> why = surroundings_mismatch(graph.surroundings)) return why;
  const std::vector<Tensor> inputs = inputs_of(graph, arguments);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (std::optional<std::string> why = input_mismatch(graph, inputs, i)) return why;
  }
  return std::nullopt;
}

std::vector<Tensor> run(const Graph& graph, ArrayRef<Tensor> arguments) {
  if (const std::optional<std::string> why = mismatch(graph, arguments))
    KEYWAY_FAIL(Value, "the graph does not hold for this call: {}", *why);
  Tensors tensors(graph.values.size());
  const std::vector<Tensor> inputs = inputs_of(graph, arguments);
  for (std::size_t i = 0; i < inputs.size(); ++i) tensors[graph.inputs[i].value] = inputs[i];
  // What stands above the level has done its part in the capture.
  DispatchKeySet above_level = DispatchKeySet(Functionality::Autocast);
  if (graph.level == Level::Executed) above_level = above_level | kAutogradKeys;
  const ExcludeDispatchKeyGuard above(above_level);
  const std::vector<std::vector<ValueId>> ended = last_uses(graph);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    const FunctionSchema& schema = node.op->schema();
    const AutoGradMode mode(graph.level == Level::Program ? !node.no_grad : grad_enabled());
    Stack values = tensors.filled(schema.arguments(), node.arguments);
    call_boxed(*node.op, values);
    tensors.take(schema.returns(), node.results, values);
    for (const ValueId id : ended[i]) tensors[id] = Tensor();
  }
  for (const LeafGrad& grad : graph.grads)
    autograd::set_grad(tensors[grad.leaf], grad.grad == kNoValue ? Tensor() : tensors[grad.grad]);
  std::vector<Tensor> outputs;
  for (const ValueId id : graph.outputs) outputs.push_back(id == kNoValue ? Tensor() : tensors[id]);
  return outputs;
}

}  // namespace keyway::inline v1::graph
