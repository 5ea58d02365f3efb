#include <keyway/core/schema/signature_code.h>
#include <keyway/dispatch/call/box_by_schema.h>
#include <keyway/dispatch/call/boxing.h>

namespace keyway::inline v1::detail {

IValue box_by_schema(SchemaType type, const void* argument) {
  SignatureCode code;
  append_code(code, type);
  const bool optional = code.view().starts_with('?');
  const auto as = [&]<typename T>() {
    return optional ? box(*static_cast<const std::optional<T>*>(argument)) : box(*static_cast<const T*>(argument));
  };
  switch (code.view().back()) {
    case 'T':
    case 'W': return IValue(*static_cast<const TensorBase*>(argument));
    case 'i': return as.operator()<std::int64_t>();
    case 'd': return as.operator()<double>();
    case 'b': return as.operator()<bool>();
    case 'c': return as.operator()<complex<double>>();
    case 's': return as.operator()<Scalar>();
    case 'z': return as.operator()<std::string_view>();
    case 't': return as.operator()<ScalarType>();
    case 'l': return as.operator()<Layout>();
    case 'm': return as.operator()<MemoryFormat>();
    case 'e': return as.operator()<Device>();
    case 'g': return box(*static_cast<const Generator*>(argument));
    case 'L': return as.operator()<ArrayRef<TensorBase>>();
    case 'I': return as.operator()<ArrayRef<std::int64_t>>();
    case 'D': return as.operator()<ArrayRef<double>>();
    case 'B': return as.operator()<ArrayRef<bool>>();
    case 'S': return as.operator()<ArrayRef<Scalar>>();
    case 'Z': return as.operator()<ArrayRef<std::string>>();
    case 'Y': return as.operator()<ArrayRef<ScalarType>>();
    case 'N': return as.operator()<ArrayRef<std::optional<std::int64_t>>>();
    case 'J': return as.operator()<ArrayRef<std::vector<std::int64_t>>>();
    case 'M': return as.operator()<ArrayRef<std::vector<TensorBase>>>();
  }
  KEYWAY_FAIL(Internal, "no argument of a typed call has the code '{}'", code.view());
}

}  // namespace keyway::inline v1::detail
