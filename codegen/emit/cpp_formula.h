// cpp_formula: a checked derivative formula as a C++ expression over public Tensors.
//
// It is compiled inside a Node, in namespace autograd. Operators are called as functions of keyway::, qualified, as the
// names around the formula are its operator's; helpers are those that schema files declare, and the words of the
// language (len, item, ...) those of autograd/formulas/formula_words.h, but for `each` of autograd/generated_kernels.h.
#pragma once

#include <keyway/codegen/emit/doc.h>
#include <keyway/codegen/expr/expr_checker.h>

#include <map>
#include <string>

namespace keyway::inline v1 {

// What stands for a name, or for saved metadata.
struct CppName {
  std::string text;
  bool optional = false;  // a std::optional: dereferenced where the formula knows that it is not None
};

// By canonical text: "grad", "self", "self.sizes()".
using CppNames = std::map<std::string, CppName, std::less<>>;

// What a value of that type is kept as: "std::int64_t", "std::optional<DimVector>".
std::string kept_type(const ExprType& type);

// The formula or a part of it. Requires: `part` is a node of the formula.
Doc cpp_formula(const CheckedExpr& formula, const Expr& part, const CppNames& names);

}  // namespace keyway::inline v1
