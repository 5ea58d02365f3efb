#include <keyway/core/schema/schema.h>
#include <keyway/dispatch/call/default_argument.h>
#include <keyway/tools/op_examples/arguments.h>

#include <algorithm>
#include <stdexcept>

namespace keyway::inline v1::tools {

namespace {

using Kind = Literal::Kind;

bool any_leaf(const Literal& literal, Kind kind) {
  if (literal.kind == kind) return true;
  for (const Literal& item : literal.items) {
    if (any_leaf(item, kind)) return true;
  }
  return false;
}

void flatten(const Literal& literal, std::vector<double>& values) {
  if (literal.kind != Kind::List) {
    values.push_back(literal.number);
    return;
  }
  for (const Literal& item : literal.items) flatten(item, values);
}

IValue call_by_name(const Literal& call);

IValue scalar_of(const Literal& literal) {
  switch (literal.kind) {
    case Kind::Bool: return IValue(literal.integer != 0);
    case Kind::Int: return IValue(static_cast<std::int64_t>(literal.integer));
    case Kind::List: throw std::runtime_error("a list is no number");
    default: return IValue(literal.number);
  }
}

IValue list_of(SchemaType element, std::size_t repeat, const Literal& literal);

IValue value_of(SchemaType type, const Literal& literal) {
  if (literal.kind == Kind::None) return IValue();
  switch (type.kind()) {
    case TypeKind::Optional: return value_of(type.element(), literal);
    case TypeKind::Tensor: return literal.kind == Kind::Call ? call_by_name(literal) : IValue(tensor_of(literal));
    case TypeKind::List: return list_of(type.element(), type.list_size(), literal);
    case TypeKind::Float: return IValue(literal.number);
    case TypeKind::Bool: return IValue(literal.integer != 0);
    case TypeKind::Str: return IValue(literal.text);
    case TypeKind::ScalarType: return IValue(parse_dtype(literal.text));
    case TypeKind::MemoryFormat: return IValue(*try_parse_memory_format(literal.text));
    case TypeKind::Layout: return IValue(Layout::Strided);
    case TypeKind::Device: return IValue(Device(literal.text));
    case TypeKind::Int:
    case TypeKind::SymInt:
      // Reductions of losses have names.
      if (literal.kind == Kind::Name)
        return IValue(std::int64_t{literal.text == "Mean" ? 1 : literal.text == "Sum" ? 2 : 0});
      return IValue(static_cast<std::int64_t>(literal.integer));
    default: return scalar_of(literal);
  }
}

IValue list_of(SchemaType element, std::size_t repeat, const Literal& literal) {
  std::vector<Literal> items = literal.items;
  if (literal.kind != Kind::List) items.assign(std::max<std::size_t>(repeat, 1), literal);
  const SchemaType kind = element.is(TypeKind::Optional) ? element.element() : element;
  if (kind.is(TypeKind::Tensor)) {
    std::vector<TensorBase> tensors;
    for (const Literal& item : items) tensors.push_back(value_of(element, item).to_tensor());
    return IValue(std::move(tensors));
  }
  if (kind.is(TypeKind::Bool)) {
    std::vector<bool> bools;
    for (const Literal& item : items) bools.push_back(item.integer != 0);
    return IValue(std::move(bools));
  }
  if (kind.is(TypeKind::Float)) {
    std::vector<double> doubles;
    for (const Literal& item : items) doubles.push_back(item.number);
    return IValue(std::move(doubles));
  }
  std::vector<std::int64_t> ints;
  for (const Literal& item : items) ints.push_back(item.integer);
  return IValue(std::move(ints));
}

// A nested call, of whichever overload takes its arguments.
IValue call_by_name(const Literal& call) {
  for (const OperatorHandle& op : Dispatcher::singleton().ops()) {
    if (op.entry().info().name != "keyway::" + call.text) continue;
    try {
      Stack stack = make_arguments(op.entry(), call);
      op.call_boxed(stack);
      return stack.at(0);
    } catch (const std::runtime_error&) {
      continue;  // another overload
    }
  }
  throw std::runtime_error("no overload of " + call.text + " takes these arguments");
}

}  // namespace

TensorBase tensor_of(const Literal& literal) {
  std::vector<std::int64_t> sizes;
  for (const Literal* level = &literal; level->kind == Kind::List; level = &level->items[0]) {
    sizes.push_back(static_cast<std::int64_t>(level->items.size()));
    if (level->items.empty()) break;
  }
  std::vector<double> values;
  flatten(literal, values);
  const ScalarType dtype = any_leaf(literal, Kind::Float) || values.empty() ? kFloat
                           : any_leaf(literal, Kind::Bool)                  ? kBool
                                                                            : kLong;
  TensorBase result = make_tensor(sizes, dtype, Device(DeviceType::CPU));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (dtype == kFloat) result.data_ptr<float>()[i] = static_cast<float>(values[i]);
    if (dtype == kBool) result.data_ptr<bool>()[i] = values[i] != 0;
    if (dtype == kLong) result.data_ptr<std::int64_t>()[i] = static_cast<std::int64_t>(values[i]);
  }
  return result;
}

Stack make_arguments(const OperatorEntry& op, const Literal& call, DeviceType device) {
  const FunctionSchema& schema = op.schema();
  if (call.items.size() > schema.arguments().size()) throw std::runtime_error("too many arguments");
  Stack stack;
  for (std::size_t i = 0; i < schema.arguments().size(); ++i) {
    const Argument argument = schema.arguments()[i];
    const Literal* given = i < call.items.size() ? &call.items[i] : nullptr;
    for (const auto& [name, value] : call.keywords) {
      if (name == argument.name()) given = &value;
    }
    if (given == nullptr && !argument.has_default())
      throw std::runtime_error("missing " + std::string(argument.name()));
    stack.push_back(given != nullptr ? value_of(argument.type(), *given) : default_argument(argument));
    if (device != DeviceType::Meta) continue;
    if (argument.type().is(TypeKind::Optional) && argument.type().element().is(TypeKind::Device)) {
      stack.back() = IValue(Device(device));
    }
    const auto to_meta = [](const TensorBase& tensor) {
      return tensor.defined()
                 ? make_tensor_strided(tensor.sizes(), tensor.strides(), tensor.dtype(), Device(DeviceType::Meta))
                 : TensorBase();
    };
    if (stack.back().is_tensor()) {
      stack.back() = IValue(to_meta(stack.back().to_tensor()));
    } else if (stack.back().is(ValueTag::TensorList)) {
      std::vector<TensorBase> tensors;
      for (const TensorBase& tensor : stack.back().to_tensor_list()) tensors.push_back(to_meta(tensor));
      stack.back() = IValue(std::move(tensors));
    }
  }
  return stack;
}

}  // namespace keyway::inline v1::tools
