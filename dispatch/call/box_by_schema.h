// box_by_schema: an argument of a typed call as a value, told by its schema. Internal to dispatch.
#pragma once

#include <keyway/core/schema/schema.h>
#include <keyway/dispatch/call/ivalue.h>

namespace keyway::inline v1::detail {

// Requires: `argument` is the address of one of the type that canonical signatures have for `type` (signature.h).
IValue box_by_schema(SchemaType type, const void* argument);

}  // namespace keyway::inline v1::detail
