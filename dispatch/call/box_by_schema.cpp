#include <keyway/core/schema/signature_code.h>
#include <keyway/dispatch/call/box_by_schema.h>
#include <keyway/dispatch/call/boxing.h>

namespace keyway::inline v1::detail {

IValue box_by_schema(SchemaType type, const void* argument) {
  SignatureCode code;
  append_code(code, type);
  std::string_view value = code.view();
  if (value == "W") value = "T";
  const bool optional = value.starts_with('?');
  if (optional) value.remove_prefix(1);
  if (value.starts_with('{')) {  // a Dict has nothing beside what it inherits
    if (!optional) return *static_cast<const GenericDict*>(argument);
    return box(*static_cast<const std::optional<GenericDict>*>(argument));
  }
  IValue boxed;
  const bool found = visit_value_class(tag_of_code(value), [&]<typename T>() {
    using Arg = std::remove_cvref_t<KernelArg<T>>;
    boxed = optional ? box(*static_cast<const std::optional<Arg>*>(argument)) : box(*static_cast<const Arg*>(argument));
  });
  if (!found) KEYWAY_FAIL(Internal, "no argument of a typed call has the code '{}'", code.view());
  return boxed;
}

}  // namespace keyway::inline v1::detail
