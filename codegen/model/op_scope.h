// The scopes in which the expressions of an entry are read.
#pragma once

#include <keyway/codegen/base/diagnostics.h>
#include <keyway/codegen/expr/function_table.h>
#include <keyway/codegen/expr/scope.h>
#include <keyway/codegen/model/model.h>
#include <keyway/core/schema/schema.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace keyway::inline v1 {

// How formulas call result `index`: `result` if it is the only one, else `result0`, and its name if it has
// one.
std::vector<std::string> result_names(FunctionSchema schema, std::size_t index);

Scope argument_scope(FunctionSchema schema);
// Tensors stand for their dtypes, results too.
Scope dtype_scope(FunctionSchema schema);
// With results, gradients and, in a joint formula, `needs`.
Scope derivative_scope(FunctionSchema schema, bool joint);

// A formula, or nothing after its first error has been reported where it is written.
std::optional<Formula> read_formula(const LocatedText& text, ExprContext context, const Scope& scope,
                                    const FunctionTable& functions, const Report& report,
                                    const std::vector<std::string>& not_none = {});

// The parts of "input, weight, bias", each with its place in the list.
struct ListedName {
  std::string name;
  Place place;
};
std::vector<ListedName> listed_names(const LocatedText& list);

}  // namespace keyway::inline v1
