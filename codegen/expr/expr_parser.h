// parse_expr: text to tree. The grammar stands in expr.h.
#pragma once

#include <keyway/codegen/expr/expr.h>

#include <string_view>

namespace keyway::inline v1 {

// The tree of `text`. Throws ExprError with the offset of the first mistake.
ExprPtr parse_expr(std::string_view text);

}  // namespace keyway::inline v1
