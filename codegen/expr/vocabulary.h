// The words of the expression language: predicates, methods and named constants, as tables in vocabulary.cpp, where a
// new word is a new line. What formulas of derivatives call besides are helpers, which schema files declare.
#pragma once

#include <keyway/codegen/expr/expr.h>
#include <keyway/codegen/expr/scope.h>
#include <keyway/codegen/expr/signature.h>

#include <string>
#include <string_view>
#include <vector>

namespace keyway::inline v1 {

// The overloads of a predicate that an expression of that context may call; empty if there are none.
std::vector<Signature> predicates_named(std::string_view name, ExprContext context);
std::vector<std::string> predicate_names();

// Methods over metadata: `self.sizes()`. The object is the first parameter.
std::vector<Signature> methods_named(std::string_view name);
std::vector<std::string> method_names();

// The constants of a context: int64, strided, inf, and in dtype rules floating, real, ...
Scope constants(ExprContext context);

// The word of a dtype rule by which operands promote, alone or of a set: promote, promote_to_float, compare; or "".
std::string_view promotion_word(const Expr& rule);

// The dtype rules that have a name: "dtypes": "promote".
std::vector<std::string> dtype_presets();

}  // namespace keyway::inline v1
