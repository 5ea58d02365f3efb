// BoxedShape: what a boxed call needs to know of a schema, in a few bytes: where its keys come from.
#pragma once

#include <keyway/core/schema/schema.h>

#include <cstdint>

namespace keyway::inline v1 {

struct BoxedShape {
  std::uint64_t tensors = 0;  // bit i: argument i is a tensor or a list of tensors
  std::int8_t device = -1;    // the first `Device?` argument, which a factory takes its backend from
  std::uint8_t arguments = 0;
};

constexpr BoxedShape boxed_shape_of(const FunctionSchema& schema) {
  BoxedShape shape;
  for (const Argument argument : schema.arguments()) {
    SchemaType type = argument.type();
    while (type.is(TypeKind::Optional) || type.is(TypeKind::List)) type = type.element();
    if (type.is(TypeKind::Tensor)) shape.tensors |= std::uint64_t{1} << shape.arguments;
    if (type.is(TypeKind::Device) && shape.device < 0)
      shape.device = static_cast<std::int8_t>(shape.arguments);
    ++shape.arguments;
  }
  return shape;
}

}  // namespace keyway::inline v1
