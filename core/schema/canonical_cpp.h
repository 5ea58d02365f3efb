// How a schema's types are written in C++ canonically: the one signature that tables, kernels and typed
// handles of an operator have. core/schema/value_code.h holds the table.
#pragma once

#include <keyway/core/base/macros.h>
#include <keyway/core/schema/schema.h>

#include <string>

namespace keyway::inline v1 {

// The letters that a signature's hash is computed from, and the text of the C++ type.
struct CanonicalCpp {
  std::string code;
  std::string cpp;
};

// Each throws keyway::Error (NotImplemented) for a type that kernels cannot take or return.

// "const TensorBase&", "std::optional<std::int64_t>"
KEYWAY_API CanonicalCpp canonical_argument(SchemaType type);
// "TensorBase", "std::tuple<TensorBase, TensorBase>", "void"
KEYWAY_API CanonicalCpp canonical_result(FunctionSchema schema);
// "TensorBase(const TensorBase&, std::int64_t)"
KEYWAY_API CanonicalCpp canonical_signature(FunctionSchema schema);

}  // namespace keyway::inline v1
