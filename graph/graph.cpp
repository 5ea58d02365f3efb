#include <keyway/autocast/autocast.h>
#include <keyway/core/dtype/default_dtype.h>
#include <keyway/core/schema/schema.h>
#include <keyway/core/tensor/geometry.h>
#include <keyway/graph/node_values.h>

#include <algorithm>

namespace keyway::inline v1::graph {

TensorInfo::TensorInfo(const TensorBase& tensor)
    : dtype(tensor.dtype()),
      device(tensor.device()),
      sizes(tensor.sizes().vec()),
      strides(tensor.strides().vec()),
      offset(tensor.storage_offset()),
      requires_grad(tensor.requires_grad()) {}

TensorInfo::TensorInfo(ScalarType its_dtype, Device its_device, std::vector<std::int64_t> its_sizes)
    : dtype(its_dtype),
      device(its_device),
      sizes(std::move(its_sizes)),
      strides(IntArrayRef(contiguous_strides(sizes)).vec()) {}

bool TensorInfo::is_of(const TensorBase& tensor) const {
  return dtype == tensor.dtype() && device == tensor.device() && IntArrayRef(sizes) == tensor.sizes() &&
         IntArrayRef(strides) == tensor.strides() && offset == tensor.storage_offset();
}

TensorBase tensor_over(const Storage& memory, const TensorInfo& info) {
  const auto count = static_cast<std::int64_t>(memory.nbytes() / element_size(info.dtype));
  const TensorBase whole(
      make_intrusive<TensorImpl>(memory, info.dtype, IntArrayRef({count}), IntArrayRef({1}), count, true));
  return make_view(whole, info.sizes, info.strides, info.offset);
}

bool is_of_transform(const TensorBase& tensor) {
  const DispatchKeySet keys = tensor.key_set();
  return keys.has(Functionality::Batched) || keys.has(Functionality::ForwardAD) || keys.has(Functionality::Python);
}

Surroundings Surroundings::now() {
  Surroundings now{keyway::grad_enabled(), InferenceMode::is_enabled(), thread_state.autocast, {}, get_default_dtype()};
  for (int type = 0; type < kNumDeviceTypes; ++type) {
    if ((now.autocast >> type & 1) != 0) now.autocast_dtypes.push_back(autocast_dtype(static_cast<DeviceType>(type)));
  }
  return now;
}

std::size_t Graph::argument_count() const {
  return static_cast<std::size_t>(std::ranges::count_if(inputs, [](const Input& input) { return !input.is_state; }));
}

bool is_of_tensors(SchemaType type) {
  while (type.is(TypeKind::Optional) || type.is(TypeKind::List)) type = type.element();
  return type.is(TypeKind::Tensor);
}

namespace {

// Which values there are so far.
class Made {
 public:
  explicit Made(const Graph& graph) : graph_(graph), is_made_(graph.values.size()) {}

  void check_number(ValueId id, std::string_view where) const {
    KEYWAY_CHECK(id >= 0 && index(id) < is_made_.size(), "graph: {} has %{}, but there are {} values", where, id,
                 is_made_.size());
  }
  bool is_made(ValueId id) const { return is_made_[index(id)]; }
  void use(ValueId id, std::string_view where) const {
    check_number(id, where);
    KEYWAY_CHECK(is_made(id), "graph: {} uses %{} before it is made", where, id);
  }
  void make(ValueId id, std::string_view where) {
    check_number(id, where);
    is_made_[index(id)] = true;
    const ValueId memory = memory_of(graph_, id);
    check_number(memory, where);
    KEYWAY_CHECK(is_made(memory), "graph: {} lies in the memory of %{}, which is not made yet", where, memory);
    const ValueId first = memory_of(graph_, memory);
    KEYWAY_CHECK(first == memory, "graph: {} lies in the memory of %{}, which lies in that of %{}: say that one", where,
                 memory, first);
  }

 private:
  const Graph& graph_;
  std::vector<bool> is_made_;
};

// Numbers of values stand where the schema has tensors, in the form that it has.
void check_form(const Argument& argument, const IValue& value, const std::string& op) {
  if (!is_of_tensors(argument.type()) || value.is_none()) return;
  SchemaType type = argument.type();
  std::size_t depth = 0;
  for (; type.is(TypeKind::Optional) || type.is(TypeKind::List); type = type.element())
    depth += type.is(TypeKind::List) ? 1 : 0;
  const ValueTag form = depth == 0   ? ValueTag::Int
                        : depth == 1 ? ValueTag::IntList
                                     : detail::kTagOf<std::vector<std::vector<std::int64_t>>>;
  KEYWAY_CHECK(value.is(form), "graph: argument '{}' of {} holds tensors, and its value is {}", argument.name(), op,
               to_string(value.tag()));
}

void check_values(const ArgumentList& arguments, const Stack& values, const std::string& op, const char* what) {
  KEYWAY_CHECK(values.size() == arguments.size(), "graph: {} has {} {}, not {}", op, arguments.size(), what,
               values.size());
  for (std::size_t i = 0; i < values.size(); ++i) check_form(arguments[i], values[i], op);
}

// Whether it is an input, and not the gradient of one.
bool is_leaf(const Graph& graph, ValueId id) {
  return std::ranges::any_of(graph.inputs,
                             [&](const Input& input) { return input.value == id && input.grad_of == kNoValue; });
}

}  // namespace

void check(const Graph& graph) {
  Made made(graph);
  bool arguments_ended = false;
  for (const Input& input : graph.inputs) {
    KEYWAY_CHECK(input.is_state || !arguments_ended, "graph: an argument stands behind a state");
    arguments_ended = input.is_state;
    made.make(input.value, "an input");
  }
  for (const Input& input : graph.inputs) {
    if (input.grad_of == kNoValue) continue;
    made.use(input.grad_of, "a gradient");
    KEYWAY_CHECK(input.is_state, "graph: a gradient is an argument");
    KEYWAY_CHECK(is_leaf(graph, input.grad_of), "graph: %{} is the gradient of %{}, which is no input", input.value,
                 input.grad_of);
  }
  for (const Node& node : graph.nodes) {
    const std::string op = node.op->full_name();
    check_values(node.op->schema().arguments(), node.arguments, op, "arguments");
    check_values(node.op->schema().returns(), node.results, op, "results");
    for_each_argument(node, [&](ValueId id) { made.use(id, op); });
    for_each_result(node, [&](ValueId id) { made.make(id, op); });
  }
  for (const LeafGrad& grad : graph.grads) {
    made.use(grad.leaf, "a leaf");
    KEYWAY_CHECK(is_leaf(graph, grad.leaf), "graph: %{} gets a gradient, and is no input", grad.leaf);
    if (grad.grad != kNoValue) made.use(grad.grad, "a gradient");
  }
  for (const ValueId output : graph.outputs) {
    if (output != kNoValue) made.use(output, "an output");
  }
}

namespace {

// New numbers of values, given as they are asked for the first time.
class NewNumbers {
 public:
  explicit NewNumbers(std::vector<Value> values) : old_(std::move(values)), new_(old_.size(), kNoValue) {
    values_.reserve(old_.size());
  }

  ValueId of(ValueId old) {
    if (old == kNoValue) return kNoValue;
    ValueId& id = new_[index(old)];
    if (id == kNoValue) {
      id = static_cast<ValueId>(values_.size());
      values_.push_back(std::move(old_[index(old)]));
    }
    return id;
  }
  Stack of(const ArgumentList& arguments, Stack values) {
    return with_values(arguments, std::move(values), [this](ValueId old) { return of(old); });
  }
  // Of the values that have got a number. The memory that a value lies in is that of an earlier one, if there is one.
  std::vector<Value> take_values() {
    std::vector<ValueId> first(old_.size(), kNoValue);
    for (std::size_t id = 0; id < values_.size(); ++id) {
      ValueId& memory = first[index(values_[id].memory)];
      if (memory == kNoValue) memory = static_cast<ValueId>(id);
      values_[id].memory = memory;
    }
    return std::move(values_);
  }

 private:
  std::vector<Value> old_;  // those without a new number
  std::vector<ValueId> new_;
  std::vector<Value> values_;
};

}  // namespace

std::vector<bool> written_memories(const Graph& graph) {
  std::vector<bool> is_written(graph.values.size());
  for (const Node& node : graph.nodes)
    for_each_written(node, [&](ValueId id) { is_written[index(memory_of(graph, id))] = true; });
  return is_written;
}

Graph without_calls(const Graph& graph) {
  return {graph.level, graph.surroundings, graph.values, graph.inputs, {}, graph.grads, graph.outputs};
}

Graph renumbered(Graph graph) {
  NewNumbers numbers(std::move(graph.values));
  for (Input& input : graph.inputs) input.value = numbers.of(input.value);
  for (Input& input : graph.inputs) input.grad_of = numbers.of(input.grad_of);
  for (Node& node : graph.nodes) {
    const FunctionSchema& schema = node.op->schema();
    node.arguments = numbers.of(schema.arguments(), std::move(node.arguments));
    node.results = numbers.of(schema.returns(), std::move(node.results));
  }
  for (LeafGrad& grad : graph.grads) {
    grad.leaf = numbers.of(grad.leaf);
    grad.grad = numbers.of(grad.grad);
  }
  for (ValueId& output : graph.outputs) output = numbers.of(output);
  graph.values = numbers.take_values();
  return graph;
}

}  // namespace keyway::inline v1::graph
