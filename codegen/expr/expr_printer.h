// to_text: tree to canonical text.
#pragma once

#include <keyway/codegen/expr/expr.h>

#include <string>

namespace keyway::inline v1 {

// The canonical text in the language of entries, whatever the types: one space around operators, no parenthesis that
// the grammar does not need. Parsing it gives an equal tree, so two expressions are the same if their texts are.
std::string to_text(const Expr& expr);

}  // namespace keyway::inline v1
