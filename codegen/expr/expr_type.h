// ExprType: the type of an expression, in the words of the schema language.
#pragma once

#include <keyway/codegen/expr/expr.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace keyway::inline v1 {

enum class ExprBase : std::uint8_t {
  Unknown,  // an item of []: fits everywhere
  None,
  Bool,
  Int,
  Float,
  Scalar,
  Str,
  DType,
  DTypeSet,
  Layout,
  MemoryFormat,
  Device,
  Generator,
  Other,  // a type of the schema language that expressions only pass on
  Tensor,
  Tuple,
};

struct ExprType {
  ExprBase base = ExprBase::Unknown;
  int depth = 0;                // 1: a list; 2: a list of lists, as the sizes of a Tensor[]
  bool optional = false;        // may be None
  bool optional_items = false;  // a list whose items may be None, as Tensor?[]
  std::vector<ExprType> parts;  // of a Tuple

  friend bool operator==(const ExprType&, const ExprType&) = default;

  bool is(ExprBase other) const { return base == other && depth == 0; }
  bool is_number() const { return base >= ExprBase::Int && base <= ExprBase::Scalar; }
  ExprType list() const;      // T[] of this T
  ExprType item() const;      // T of this T[]. Requires: depth > 0
  ExprType required() const;  // the same, not None
  ExprType maybe() const;     // the same, or None
};

// The plain type of a base: `int`, `Tensor`.
inline ExprType of_base(ExprBase base) {
  ExprType type;
  type.base = base;
  return type;
}

// "Tensor?[]", "int[]?", "(Tensor, Tensor)".
std::string to_string(const ExprType& type);

// The type that holds values of both, or nothing: int and float are float, T and None are T?.
std::optional<ExprType> common_type(const ExprType& a, const ExprType& b);

// Whether `==` has a meaning between values of the two, leaving lists and None aside.
bool comparable(const ExprType& a, const ExprType& b);

}  // namespace keyway::inline v1
