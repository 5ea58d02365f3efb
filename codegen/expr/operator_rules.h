// The types that operators of the expression language compute, and the errors of operands that do not fit.
#pragma once

#include <keyway/codegen/expr/expr.h>
#include <keyway/codegen/expr/expr_type.h>
#include <keyway/codegen/expr/scope.h>

#include <cstddef>

namespace keyway::inline v1 {

// All throw ExprError at `offset`.
ExprType unary_type(UnaryOp op, const ExprType& operand, ExprContext context, std::size_t offset);
ExprType binary_type(BinaryOp op, const ExprType& left, const ExprType& right, ExprContext context, std::size_t offset);
ExprType compare_type(CompareOp op, const ExprType& left, const ExprType& right, ExprContext context,
                      std::size_t offset);

}  // namespace keyway::inline v1
