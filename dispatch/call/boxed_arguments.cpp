#include <keyway/core/schema/printer.h>
#include <keyway/core/schema/schema.h>
#include <keyway/dispatch/call/boxed_arguments.h>
#include <keyway/dispatch/call/ivalue.h>

namespace keyway::inline v1::detail {

namespace {

bool fits(SchemaType type, const IValue& value);

bool is_int(SchemaType type) { return type.is(TypeKind::Int) || type.is(TypeKind::SymInt); }

bool fits_list(SchemaType element, ValueTag tag) {
  if (element.is(TypeKind::Optional) && is_int(element.element())) return tag == ValueTag::OptionalIntList;
  if (element.is(TypeKind::Optional)) element = element.element();
  if (element.is(TypeKind::List) && is_int(element.element())) return tag == ValueTag::IntListList;
  switch (element.kind()) {
    case TypeKind::List: return !element.element().is(TypeKind::Tensor) || tag == ValueTag::TensorListList;
    case TypeKind::Tensor: return tag == ValueTag::TensorList;
    case TypeKind::Int:
    case TypeKind::SymInt: return tag == ValueTag::IntList;
    case TypeKind::Float: return tag == ValueTag::DoubleList;
    case TypeKind::Bool: return tag == ValueTag::BoolList;
    case TypeKind::Scalar: return tag == ValueTag::ScalarList;
    case TypeKind::Str: return tag == ValueTag::StringList;
    case TypeKind::ScalarType: return tag == ValueTag::ScalarTypeList;
    default: return true;
  }
}

// As the unboxers of boxing.h take them.
bool fits(SchemaType type, const IValue& value) {
  switch (type.kind()) {
    case TypeKind::Optional: return value.is_none() || fits(type.element(), value);
    case TypeKind::List: return fits_list(type.element(), value.tag());
    case TypeKind::Tensor: return value.is_tensor() || value.is_none();
    case TypeKind::Int:
    case TypeKind::SymInt: return value.is(ValueTag::Int);
    case TypeKind::Float: return value.is(ValueTag::Double) || value.is(ValueTag::Int);
    case TypeKind::Bool:
    case TypeKind::SymBool: return value.is(ValueTag::Bool);
    case TypeKind::Complex: return value.is(ValueTag::Complex);
    case TypeKind::Scalar:
      return value.is(ValueTag::Int) || value.is(ValueTag::Double) || value.is(ValueTag::Bool) ||
             value.is(ValueTag::Complex) || value.is(ValueTag::Uint64);
    case TypeKind::Str: return value.is(ValueTag::String);
    case TypeKind::ScalarType: return value.is(ValueTag::ScalarType);
    case TypeKind::Layout: return value.is(ValueTag::Layout);
    case TypeKind::MemoryFormat: return value.is(ValueTag::MemoryFormat);
    case TypeKind::Device: return value.is(ValueTag::Device);
    case TypeKind::Generator: return value.is(ValueTag::Generator) || value.is_none();
    default: return true;
  }
}

}  // namespace

std::string wrong_argument(const OperatorEntry& op, const Stack& stack) {
  const ArgumentList arguments = op.schema().arguments();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const IValue& value = stack[stack.size() - arguments.size() + i];
    if (fits(arguments[i].type(), value)) continue;
    const std::string type = to_string(arguments[i].type());
    const FormatArg values[] = {arguments[i].name(), type, to_string(value.tag())};
    return format("argument '{}' takes {}, but got {}", values);
  }
  return {};
}

void check_results(const OperatorEntry& op, const Stack& stack, std::size_t first) {
  const ArgumentList results = op.schema().returns();
  KEYWAY_CHECK_AS(Type, stack.size() >= first,
                  "a boxed kernel took more than its {} arguments from the stack: {} values are missing",
                  op.schema().arguments().size(), first - stack.size());
  KEYWAY_CHECK_AS(Type, stack.size() - first == results.size(),
                  "a boxed kernel left {} values on the stack, but the schema has {} results", stack.size() - first,
                  results.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    const IValue& value = stack[first + i];
    if (!fits(results[i].type(), value))
      KEYWAY_FAIL(Type, "a boxed kernel left {} as result {}, which is {}", to_string(value.tag()), i,
                  to_string(results[i].type()));
  }
}

}  // namespace keyway::inline v1::detail
