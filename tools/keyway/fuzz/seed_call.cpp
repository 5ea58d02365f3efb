#include <keyway/core/schema/schema.h>
#include <keyway/tools/keyway/fuzz/seed_call.h>
#include <keyway/tools/op_examples/arguments.h>

#include <exception>
#include <optional>
#include <stdexcept>

namespace keyway::inline v1::tools {

namespace {

// The overload that returns what an out= overload writes: the same name and arguments.
std::optional<OperatorHandle> functional_of(const OperatorHandle& out) {
  const FunctionSchema& schema = out.schema();
  const std::size_t inputs = schema.arguments().size() - schema.out_count();
  const std::string name(schema.name());
  for (const OperatorHandle& op : Dispatcher::singleton().ops()) {
    if (op.entry().info().name != out.entry().info().name) continue;
    const FunctionSchema& other = op.schema();
    if (other.is_out() || other.arguments().size() != inputs) continue;
    bool same = true;
    for (std::size_t i = 0; i < inputs; ++i) {
      same = same && other.arguments()[i].name() == schema.arguments()[i].name() &&
             other.arguments()[i].type() == schema.arguments()[i].type();
    }
    if (same) return op;
  }
  return std::nullopt;
}

// Empty tensors for the results. Their dtypes come from Meta, where no kernel runs.
void add_outputs(const OperatorHandle& op, const OperatorHandle& functional, const Literal& call,
                 std::vector<Value>& values) {
  std::vector<ScalarType> dtypes(op.schema().out_count(), ScalarType::Float);
  try {
    Stack results = make_arguments(functional.entry(), call, DeviceType::Meta);
    functional.call_boxed(results);
    for (std::size_t i = 0; i < results.size() && i < dtypes.size(); ++i) dtypes[i] = results[i].to_tensor().dtype();
  } catch (const Error&) {
    // Its results depend on data; float32 will do.
  }
  for (const ScalarType dtype : dtypes) {
    Value value;
    value.kind = Value::Kind::Tensor;
    value.tensors.emplace_back();
    value.tensors[0].sizes = {0};
    value.tensors[0].dtype = dtype;
    values.push_back(std::move(value));
  }
}

TensorRecipe small_tensor() {
  TensorRecipe recipe;
  recipe.sizes = {2, 3};
  recipe.elements = {1.0, 2.0, 3.0};
  return recipe;
}

Value small_list(SchemaType element) {
  Value value;
  const bool nested = element.is(TypeKind::Optional) || element.is(TypeKind::List);
  const TypeKind kind = nested ? element.element().kind() : element.kind();
  if (kind == TypeKind::Tensor) {
    value.kind = element.is(TypeKind::List) ? Value::Kind::TensorLists : Value::Kind::Tensors;
    value.tensors.push_back(small_tensor());
    if (element.is(TypeKind::List)) value.lengths = {1};
  } else if (element.is(TypeKind::List)) {
    value.plain = IValue(std::vector<std::vector<std::int64_t>>{{1}});
  } else if (element.is(TypeKind::Optional)) {
    value.plain = IValue(std::vector<std::optional<std::int64_t>>{1});
  } else if (kind == TypeKind::Str) {
    value.plain = IValue(std::vector<std::string>{"sum"});
  } else if (kind == TypeKind::ScalarType) {
    value.plain = IValue(std::vector<ScalarType>{ScalarType::Float});
  } else {
    value.plain = IValue(std::vector<std::int64_t>{1});
  }
  return value;
}

Value small_value(SchemaType type) {
  Value value;
  switch (type.kind()) {
    case TypeKind::Tensor:
      value.kind = Value::Kind::Tensor;
      value.tensors.push_back(small_tensor());
      break;
    case TypeKind::List: return small_list(type.element());
    case TypeKind::Int:
    case TypeKind::SymInt:
    case TypeKind::Scalar: value.plain = IValue(std::int64_t{1}); break;
    case TypeKind::Float: value.plain = IValue(0.5); break;
    case TypeKind::Bool: value.plain = IValue(false); break;
    case TypeKind::Str: value.plain = IValue("sum"); break;
    case TypeKind::ScalarType: value.plain = IValue(ScalarType::Float); break;
    case TypeKind::Device: value.plain = IValue(Device(DeviceType::CPU)); break;
    default: break;
  }
  return value;
}

std::vector<Value> values_of(const Stack& stack) {
  std::vector<Value> values;
  for (const IValue& argument : stack) values.push_back(value_of(argument));
  return values;
}

std::vector<Value> example_call(const OperatorHandle& op) {
  const ExampleText example = parse_example(op.entry().info().example);
  if (!op.schema().is_out()) return values_of(make_arguments(op.entry(), example.call));
  const std::optional<OperatorHandle> functional = functional_of(op);
  if (!functional) throw std::runtime_error("no overload returns what this one writes");
  std::vector<Value> values = values_of(make_arguments(functional->entry(), example.call));
  add_outputs(op, *functional, example.call, values);
  return values;
}

}  // namespace

std::vector<Value> seed_call(const OperatorHandle& op) {
  try {
    return example_call(op);
  } catch (const std::exception&) {
    // No example, or one that is another overload's.
  }
  std::vector<Value> values;
  for (const Argument argument : op.schema().arguments()) values.push_back(small_value(argument.type()));
  return values;
}

std::vector<std::string> argument_names(const OperatorHandle& op) {
  std::vector<std::string> names;
  for (const Argument argument : op.schema().arguments()) names.emplace_back(argument.name());
  return names;
}

}  // namespace keyway::inline v1::tools
