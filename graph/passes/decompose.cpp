#include <keyway/core/dtype/default_dtype.h>
#include <keyway/core/keys/thread_state.h>
#include <keyway/core/tensor/geometry.h>
#include <keyway/dispatch/call/boxed_tensors.h>
#include <keyway/dispatch/call/call_declined.h>
#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/graph/capture.h>
#include <keyway/graph/effects.h>
#include <keyway/graph/meta_calls.h>
#include <keyway/graph/passes/dead_code.h>
#include <keyway/graph/passes/decompose.h>
#include <keyway/graph/passes/functionalize.h>
#include <keyway/graph/passes/splice.h>
#include <keyway/graph/subgraph.h>
#include <keyway/ops/all.h>

#include <algorithm>
#include <fmt/format.h>

namespace keyway::inline v1::graph {

void Decompositions::set_kernel(std::string_view op, AnyKernel kernel) {
  const OperatorEntry& entry = Dispatcher::singleton().op(op).entry();
  const FunctionSchema& schema = entry.schema();
  KEYWAY_CHECK_AS(Registration, !schema.is_mutable() && !schema.returns().empty(),
                  "{} writes to its arguments or gives nothing, and so has no decomposition", entry.short_name());
  for (const Argument result : schema.returns()) {
    KEYWAY_CHECK_AS(Registration, is_of_tensors(result.type()), "{} gives numbers, and so has no decomposition",
                    entry.short_name());
  }
  KEYWAY_CHECK_AS(Registration, (kernel.kernel.flags & kFallthrough) == 0, "a decomposition is a function");
  if (*kernel.code != '\0') {
    KEYWAY_CHECK_AS(Registration, fnv1a(std::string_view(kernel.code)) == entry.info().signature,
                    "the decomposition of {} is no function of its types: {}", entry.short_name(),
                    signature_difference(kernel.code, schema));
  }
  kernels_.insert_or_assign(entry.full_name(), std::move(kernel));
}

bool Decompositions::erase(std::string_view op) {
  return kernels_.erase(Dispatcher::singleton().op(op).entry().full_name()) > 0;
}

const AnyKernel* Decompositions::find(const OperatorEntry& op) const {
  const auto found = kernels_.find(op.full_name());
  return found == kernels_.end() ? nullptr : &found->second;
}

std::vector<std::string> Decompositions::operators() const {
  std::vector<std::string> names;
  for (const auto& [name, kernel] : kernels_) names.push_back(name);
  return names;
}

namespace {

// Throws what the operator does for such arguments: a decomposition takes them to be as it requires.
void check_arguments(const OperatorEntry& op, Stack stack) {
  if (!op.has_kernel_for(DeviceType::Meta) || op.has_tag("data_dependent_shape")) return;
  bool has_tensors = false;
  update_tensors(stack, [&](TensorBase& tensor) {
    has_tensors = true;
    tensor = make_tensor_strided(tensor.sizes(), tensor.strides(), tensor.dtype(), Device(DeviceType::Meta));
  });
  call_on_meta(op, stack, has_tensors);
}

}  // namespace

void call_decomposition(const Decompositions& decompositions, const OperatorEntry& op, Stack& stack) {
  const AnyKernel* const found = decompositions.find(op);
  KEYWAY_CHECK(found != nullptr, "{} has no decomposition", op.short_name());
  check_arguments(op, stack);
  found->kernel.boxed(op, found->kernel, boxed_call_keys(op, stack), stack);
}

namespace {

constexpr int kMostLevels = 64;  // of decompositions within decompositions

// What the decomposition of a call calls, as a graph of its tensors.
class Recording {
 public:
  Recording(const Graph& graph, const Node& node, const AnyKernel& kernel)
      : graph_(graph), node_(node), kernel_(kernel), meta_(graph, node.op->schema().arguments(), node.arguments) {
    for_each_argument(node, [&](ValueId id) {
      if (std::ranges::find(arguments_, id) == arguments_.end()) arguments_.push_back(id);
    });
  }

  // The tensors, in the order of the graph's arguments.
  const std::vector<ValueId>& arguments() const { return arguments_; }

  Graph graph() {
    const CapturesSetAside unseen;
    const AutoGradMode mode(graph_.level == Level::Program && !node_.no_grad);
    const ExcludeDispatchKeyGuard unrecorded(DispatchKeySet(Functionality::Autocast) | kAutogradKeys);
    const std::map<ValueId, Tensor> tensors = this->tensors();
    Capture capture(Level::Program);
    for (const ValueId id : arguments_) capture.add_argument(tensors.at(id));
    Graph made = capture.finish(results(tensors));
    refuse_strides(made);
    if (std::ranges::any_of(made.nodes, [](const Node& node) { return node.op->schema().is_mutable(); })) {
      made.level = Level::Executed;  // its gradients are those of its calls, whatever they write to
      made = functionalize(made);
    }
    made = eliminate_dead_code(made);
    made.level = graph_.level;
    put_on_device(made);
    return made;
  }

 private:
  // Without elements. What a gradient may flow to is not known of values within a graph: whatever can have one is taken
  // to.
  std::map<ValueId, Tensor> tensors() {
    std::map<ValueId, Tensor> tensors;
    for (const ValueId id : arguments_) {
      Tensor tensor(meta_.of(id));
      if (grad_enabled() && (tensor.is_floating_point() || tensor.is_complex())) tensor.requires_grad_();
      tensors.emplace(id, std::move(tensor));
    }
    return tensors;
  }

  std::vector<Tensor> results(const std::map<ValueId, Tensor>& tensors) {
    Stack stack =
        with_tensors(node_.op->schema().arguments(), node_.arguments, [&](ValueId id) { return tensors.at(id); });
    if (const int at = node_.op->info().boxed.device; at >= 0) {
      IValue& device = stack[static_cast<std::size_t>(at)];
      if (!device.is_none()) named_ = device.to_device();
      if (named_ || arguments_.empty()) device = IValue(Device(DeviceType::Meta));
    }
    kernel_.kernel.boxed(*node_.op, kernel_.kernel, boxed_call_keys(*node_.op, stack), stack);
    std::vector<Tensor> results;
    for_each_item<TensorBase>(node_.op->schema().returns(), stack,
                              [&](const TensorBase& tensor) { results.emplace_back(tensor); });
    return results;
  }

  // By as_strided memory is read as it lies here, and in other calls of the graph it may lie otherwise. An operator
  // that says itself where in memory is another matter.
  void refuse_strides(const Graph& made) const {
    if (node_.op->schema().arguments().find("storage_offset")) return;
    for (const Node& call : made.nodes) {
      if (!call.op->short_name().starts_with("as_strided")) continue;
      const ValueId memory = memory_of(made, call.arguments[0].to_int());
      const bool is_argument = std::ranges::any_of(
          made.inputs, [&](const Input& input) { return !input.is_state && memory_of(made, input.value) == memory; });
      KEYWAY_CHECK(!is_argument, "{} is called for an argument, which may have other strides: use a copy of it",
                   call.op->short_name());
    }
  }

  // Where it was recorded on Meta, the device is that of the call.
  void put_on_device(Graph& made) const {
    const Device device = named_ ? *named_ : meta_.device().value_or(Device(DeviceType::CPU));
    for (Value& value : made.values) {
      if (value.info.device.type() == DeviceType::Meta) value.info.device = device;
    }
    for (Node& call : made.nodes) {
      for (IValue& argument : call.arguments) {
        if (argument.is(ValueTag::Device) && argument.to_device().type() == DeviceType::Meta) argument = IValue(device);
      }
    }
  }

  const Graph& graph_;
  const Node& node_;
  const AnyKernel& kernel_;
  MetaArguments meta_;
  std::vector<ValueId> arguments_;
  std::optional<Device> named_;  // by an argument
};

Graph decomposed(const Graph& graph, const Decompositions& decompositions, int depth);

// A call that stays, with the graphs that it takes decomposed.
Node with_decomposed_graphs(const Node& node, const Decompositions& decompositions) {
  Node call = node;
  for (IValue& argument : call.arguments) {
    if (const Subgraph* const nested = subgraph_of(argument))
      argument = IValue(make_intrusive<Subgraph>(decompose(nested->graph(), decompositions)));
  }
  return call;
}

// Whether calls can give a tensor that lies as the result does: one in memory of its own with nothing beside it. What
// is an argument of the call itself is there.
bool can_be_made(const Graph& graph, const Node& node, ValueId result) {
  bool is_argument = false;
  for_each_argument(node, [&](ValueId id) { is_argument = is_argument || id == result; });
  if (result == kNoValue || is_argument || memory_of(graph, result) != result) return true;
  const TensorInfo& info = graph.values[index(result)].info;
  return info.offset == 0 && is_non_overlapping_and_dense(IntArrayRef(info.sizes), IntArrayRef(info.strides));
}

// What stands for a call whose operator has a decomposition.
void add_decomposed(Splicer& splicer, const Graph& graph, const Node& node, const AnyKernel& kernel,
                    const Decompositions& decompositions, int depth) {
  const std::string what = fmt::format("decompose: the decomposition of {}", node.op->short_name());
  KEYWAY_CHECK(depth < kMostLevels, "{} ends in itself", what);
  bool has_place = true;
  for_each_result(node, [&](ValueId id) { has_place = has_place && can_be_made(graph, node, id); });
  if (!has_place) return splicer.add(node);
  Recording recording(graph, node, kernel);
  Graph calls;
  try {
    calls = recording.graph();
  } catch (const CallDeclined&) {
    return splicer.add(node);
  } catch (const Error& error) {
    KEYWAY_FAIL(Value, "{}{}: {}", what, node.site.empty() ? "" : ", " + node.site, error.message());
  }
  for (const Input& input : calls.inputs) {
    KEYWAY_CHECK(!input.is_state || (input.state.defined() && input.state.device().type() != DeviceType::Meta),
                 "{} makes a tensor of numbers that follow from its arguments", what);
  }
  const Graph core = decomposed(calls, decompositions, depth + 1);
  Splicer::Part part{what, core, recording.arguments(), {}, node, true};
  for_each_value(node.op->schema().returns(), node.results, [&](ValueId id) { part.results.push_back(id); });
  KEYWAY_CHECK(part.results.size() == core.outputs.size(), "{} gives {} tensors, and it gave {}", what,
               core.outputs.size(), part.results.size());
  splicer.add(part);
}

Graph decomposed(const Graph& graph, const Decompositions& decompositions, int depth) {
  Splicer splicer(graph);
  for (const Node& node : graph.nodes) {
    const AnyKernel* const kernel = decompositions.find(*node.op);
    if (kernel == nullptr)
      splicer.add(with_decomposed_graphs(node, decompositions));
    else
      add_decomposed(splicer, graph, node, *kernel, decompositions, depth);
  }
  return eliminate_dead_code(splicer.result());
}

}  // namespace

Graph decompose(const Graph& graph, const Decompositions& decompositions) {
  KEYWAY_CHECK(graph.surroundings.default_dtype == get_default_dtype(),
               "decompose: the default dtype is {}, and was {} when the graph was captured",
               to_string(get_default_dtype()), to_string(graph.surroundings.default_dtype));
  return decomposed(graph, decompositions, 0);
}

}  // namespace keyway::inline v1::graph
