#include <keyway/core/schema/schema.h>
#include <keyway/tools/keyway/fuzz/functional_form.h>
#include <keyway/tools/keyway/fuzz/seed_call.h>
#include <keyway/tools/op_examples/arguments.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <stdexcept>

namespace keyway::inline v1::tools {

namespace {

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
    values.push_back({.kind = Value::Kind::Tensor, .tensors = {{.sizes = {0}, .dtype = dtype}}});
  }
}

TensorRecipe small_tensor() { return {.sizes = {2, 3}, .elements = {1.0, 2.0, 3.0}}; }

IValue small_plain_list(SchemaType element) {
  if (element.is(TypeKind::List)) return IValue(std::vector<std::vector<std::int64_t>>{{1}});
  if (element.is(TypeKind::Optional)) return IValue(std::vector<std::optional<std::int64_t>>{1});
  if (element.is(TypeKind::Str)) return IValue(std::vector<std::string>{"sum"});
  if (element.is(TypeKind::ScalarType)) return IValue(std::vector<ScalarType>{ScalarType::Float});
  return IValue(std::vector<std::int64_t>{1});
}

Value small_list(SchemaType element) {
  const bool lists = element.is(TypeKind::List);
  const SchemaType inner = lists || element.is(TypeKind::Optional) ? element.element() : element;
  if (!inner.is(TypeKind::Tensor)) return {.plain = small_plain_list(element)};
  if (!lists) return {.kind = Value::Kind::Tensors, .tensors = {small_tensor()}};
  return {.kind = Value::Kind::TensorLists, .tensors = {small_tensor()}, .lengths = {1}};
}

Value small_value(SchemaType type) {
  switch (type.kind()) {
    case TypeKind::Tensor: return {.kind = Value::Kind::Tensor, .tensors = {small_tensor()}};
    case TypeKind::List: return small_list(type.element());
    case TypeKind::Int:
    case TypeKind::SymInt:
    case TypeKind::Scalar: return {.plain = IValue(std::int64_t{1})};
    case TypeKind::Float: return {.plain = IValue(0.5)};
    case TypeKind::Bool: return {.plain = IValue(false)};
    case TypeKind::Str: return {.plain = IValue("sum")};
    case TypeKind::ScalarType: return {.plain = IValue(ScalarType::Float)};
    case TypeKind::Device: return {.plain = IValue(Device(DeviceType::CPU))};
    default: return {};
  }
}

std::vector<Value> values_of(const Stack& stack) {
  std::vector<Value> values;
  for (const IValue& argument : stack) values.push_back(value_of(argument));
  return values;
}

}  // namespace

std::vector<Value> values_of_example(const OperatorHandle& op, std::string_view text) {
  const ExampleText example = parse_example(text);
  if (!op.schema().is_out()) return values_of(make_arguments(op.entry(), example.call));
  const std::optional<OperatorHandle> functional = functional_form(op);
  if (!functional) throw std::runtime_error("no overload returns what this one writes");
  std::vector<Value> values = values_of(make_arguments(functional->entry(), example.call));
  add_outputs(op, *functional, example.call, values);
  return values;
}

std::vector<Value> seed_call(const OperatorHandle& op) {
  try {
    return values_of_example(op, op.entry().info().example);
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
