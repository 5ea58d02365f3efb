// BoxedCallInfo: what a boxed call needs to know of a schema, in a few bytes: where its keys come from, and whether it
// has results.
#pragma once

#include <keyway/core/schema/schema.h>

#include <cstdint>

namespace keyway::inline v1 {

struct BoxedCallInfo {
  std::uint64_t tensors = 0;  // bit i: argument i is a tensor or a list of tensors
  std::int8_t device = -1;    // the first device argument, which a factory takes its backend from
  std::uint8_t arguments = 0;
  bool has_results = false;
};

// A schema has at most 64 arguments.
constexpr BoxedCallInfo boxed_call_info_of(const FunctionSchema& schema) {
  BoxedCallInfo info;
  info.has_results = !schema.returns().empty();
  for (const Argument argument : schema.arguments()) {
    SchemaType type = argument.type();
    if (type.is(TypeKind::Optional)) type = type.element();
    if (type.is(TypeKind::Device) && info.device < 0) info.device = static_cast<std::int8_t>(info.arguments);
    while (type.is(TypeKind::Optional) || type.is(TypeKind::List)) type = type.element();
    if (type.is(TypeKind::Tensor)) info.tensors |= std::uint64_t{1} << info.arguments;
    ++info.arguments;
  }
  return info;
}

}  // namespace keyway::inline v1
