// What a backward formula needs to keep from the forward call.
#pragma once

#include <keyway/codegen/expr/expr_checker.h>

#include <cstdint>
#include <string>
#include <vector>

namespace keyway::inline v1 {

enum class SavedKind : std::uint8_t {
  Input,     // a tensor argument
  Output,    // a tensor result
  Metadata,  // what a tensor is asked for: `self.sizes()`; computed in the forward call, the tensor is not
             // kept
  Value,     // an argument that is no tensor, by value
};

struct SavedValue {
  SavedKind kind;
  ExprPtr expr;      // what to evaluate in the forward call
  ExprType type;     // of expr
  std::string name;  // an identifier: "self", "self_sizes", "weight_size_0"
};

// The values that `formula` keeps, in the order in which it names them, each once. Where a tensor is kept
// anyway, its metadata is not kept beside it.
std::vector<SavedValue> saved_values(const CheckedExpr& formula);

}  // namespace keyway::inline v1
