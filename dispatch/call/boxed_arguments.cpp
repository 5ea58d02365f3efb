#include <keyway/core/schema/printer.h>
#include <keyway/core/schema/schema.h>
#include <keyway/core/schema/signature_code.h>
#include <keyway/dispatch/call/boxed_arguments.h>
#include <keyway/dispatch/call/ivalue.h>
#include <keyway/dispatch/call/signature.h>

#include <algorithm>

namespace keyway::inline v1 {

bool takes_objects(const FunctionSchema& schema) {
  SignatureCode codes;
  for (const Argument argument : schema.arguments()) append_code(codes, argument.type());
  return codes.view().find('o') != std::string_view::npos;
}

namespace detail {

namespace {

// Whether what the value is made of is of the classes that the type names. Requires: it is of the type otherwise.
bool is_of_classes(SchemaType type, const IValue& value) {
  if (value.is_none()) return true;
  switch (type.kind()) {
    case TypeKind::Class: return value.to_object().is_of(type.class_name());
    case TypeKind::Optional: return is_of_classes(type.element(), value);
    case TypeKind::List:
      return value.tag() != detail::tag_of_code("[o") ||
             std::ranges::all_of(value.to_list_of<CustomObject>(),
                                 [&](const CustomObject& object) { return is_of_classes(type.element(), object); });
    default: return true;
  }
}

// As the unboxers of boxing.h take them.
bool fits(SchemaType type, const IValue& value) {
  SignatureCode code;
  if (!append_code(code, type)) return true;
  std::string_view wanted = code.view();
  if (wanted.starts_with('?') && value.is_none()) return true;
  if (wanted.starts_with('?')) wanted.remove_prefix(1);
  switch (wanted.front()) {
    case 'T':
    case 'W': return value.is_tensor() || value.is_none();
    case 'd': return value.is(ValueTag::Double) || value.is(ValueTag::Int);
    case 'g': return value.is(ValueTag::Generator) || value.is_none();
    case 's':
      return value.is(ValueTag::Int) || value.is(ValueTag::Double) || value.is(ValueTag::Bool) ||
             value.is(ValueTag::Complex) || value.is(ValueTag::Uint64);
    default: return value.is(tag_of_code(wanted)) && is_of_classes(type, value);
  }
}

}  // namespace

std::string wrong_argument(const OperatorEntry& op, const Stack& stack) {
  const ArgumentList arguments = op.schema().arguments();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const IValue& value = stack[stack.size() - arguments.size() + i];
    if (fits(arguments[i].type(), value)) continue;
    const std::string type = to_string(arguments[i].type()), given = type_name(value);
    const FormatArg values[] = {arguments[i].name(), type, given};
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
      KEYWAY_FAIL(Type, "a boxed kernel left {} as result {}, which is {}", type_name(value), i,
                  to_string(results[i].type()));
  }
}

}  // namespace detail

}  // namespace keyway::inline v1
