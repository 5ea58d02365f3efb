#include <keyway/codegen/expr/expr_error.h>
#include <keyway/codegen/expr/operator_rules.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace keyway::inline v1 {
namespace {

bool is_unknown(const ExprType& type) { return type.is(ExprBase::Unknown); }

void require_present(std::string_view op, const ExprType& left, const ExprType& right, std::size_t offset) {
  if (left.optional || right.optional)
    throw ExprError(offset, "the {} of '{}' may be None here; test it first", left.optional ? "left" : "right", op);
}

[[noreturn]] void no_meaning(std::string_view op, const ExprType& left, const ExprType& right, std::size_t offset) {
  throw ExprError(offset, "'{}' has no meaning between {} and {}", op, left, right);
}

// Data of tensors is computed with in formulas and in contracts over data, not in those over metadata.
void require_data(std::string_view op, ExprContext context, std::size_t offset) {
  if (context == ExprContext::Derivative || context == ExprContext::Data) return;
  throw ExprError(offset, "'{}' would read the data of a Tensor, but only metadata can be used here", op);
}

// Sizes are divided as C++ divides; in a formula a remainder that goes unseen is a wrong gradient.
void require_remainder_to_go(ExprContext context, std::size_t offset) {
  if (context == ExprContext::Derivative)
    throw ExprError(offset, "'/' of two ints drops the remainder; make one a float, as in 1.0 / n");
}

ExprType logical_type(BinaryOp op, const ExprType& left, const ExprType& right, std::size_t offset) {
  for (const ExprType* side : {&left, &right}) {
    if (side->is(ExprBase::Bool) || is_unknown(*side)) continue;
    const bool list = side->base == ExprBase::Bool && side->depth > 0;
    throw ExprError(offset, "'{}' wants bools, but its {} is {}{}", op, side == &left ? "left" : "right", *side,
                    list ? "; say all(...) or any(...)" : "");
  }
  return of_base(ExprBase::Bool);
}

ExprType union_type(const ExprType& left, const ExprType& right, std::size_t offset) {
  const auto is_dtype = [](const ExprType& type) { return type.is(ExprBase::DType) || type.is(ExprBase::DTypeSet); };
  if (!is_dtype(left) || !is_dtype(right)) no_meaning("|", left, right, offset);
  return of_base(ExprBase::DTypeSet);
}

ExprType tensor_type(std::string_view op, const ExprType& left, const ExprType& right, ExprContext context,
                     std::size_t offset) {
  const auto fits = [](const ExprType& t) { return t.depth == 0 && (t.base == ExprBase::Tensor || t.is_number()); };
  if (!fits(left) || !fits(right)) no_meaning(op, left, right, offset);
  require_data(op, context, offset);
  return of_base(ExprBase::Tensor);
}

ExprType equality_type(CompareOp op, const ExprType& left, const ExprType& right, std::size_t offset) {
  const bool none = left.is(ExprBase::None) || right.is(ExprBase::None);
  const ExprType& other = left.is(ExprBase::None) ? right : left;
  if (none && !other.optional && !is_unknown(other) && !other.is(ExprBase::None))
    throw ExprError(offset, "{} is never None here", other);
  if (!none && !comparable(left, right)) no_meaning(to_string(op), left, right, offset);
  if (none || left.depth == right.depth) return of_base(ExprBase::Bool);
  ExprType items = of_base(ExprBase::Bool);
  items.depth = std::max(left.depth, right.depth);
  items.optional_items = left.optional_items || right.optional_items;
  return items;
}

}  // namespace

ExprType unary_type(UnaryOp op, const ExprType& operand, ExprContext context, std::size_t offset) {
  if (is_unknown(operand)) return operand;
  if (operand.optional) throw ExprError(offset, "the operand of '{}' may be None here; test it first", op);
  if (op == UnaryOp::Not && operand.base == ExprBase::Bool) return operand;
  if (op == UnaryOp::Negate && operand.is_number()) return operand;
  if (op == UnaryOp::Negate && operand.is(ExprBase::Tensor)) {
    require_data("-", context, offset);
    return operand;
  }
  throw ExprError(offset, "'{}' has no meaning for {}", op, operand);
}

ExprType binary_type(BinaryOp op, const ExprType& left, const ExprType& right, ExprContext context,
                     std::size_t offset) {
  const std::string_view symbol = to_string(op);
  require_present(symbol, left, right, offset);
  if (op == BinaryOp::Or || op == BinaryOp::And) return logical_type(op, left, right, offset);
  if (op == BinaryOp::Union) return union_type(left, right, offset);
  if (is_unknown(left) || is_unknown(right)) return {};
  if (left.base == ExprBase::Tensor || right.base == ExprBase::Tensor)
    return tensor_type(symbol, left, right, context, offset);
  if (!left.is_number() || !right.is_number()) no_meaning(symbol, left, right, offset);
  ExprType type = of_base(std::max(left.base, right.base));
  if (op == BinaryOp::Divide && type.base == ExprBase::Int) require_remainder_to_go(context, offset);
  type.depth = std::max(left.depth, right.depth);
  return type;
}

ExprType compare_type(CompareOp op, const ExprType& left, const ExprType& right, ExprContext context,
                      std::size_t offset) {
  const std::string_view symbol = to_string(op);
  const bool none = left.is(ExprBase::None) || right.is(ExprBase::None);
  if (!none && (left.base == ExprBase::Tensor || right.base == ExprBase::Tensor)) {
    const ExprType type = tensor_type(symbol, left, right, context, offset);
    return context == ExprContext::Data ? of_base(ExprBase::Bool) : type;
  }
  if (op == CompareOp::Equal || op == CompareOp::NotEqual) return equality_type(op, left, right, offset);
  require_present(symbol, left, right, offset);
  const bool known = !is_unknown(left) && !is_unknown(right);
  if (known && (!left.is_number() || !right.is_number())) no_meaning(symbol, left, right, offset);
  ExprType type = of_base(ExprBase::Bool);
  type.depth = std::max(left.depth, right.depth);
  return type;
}

}  // namespace keyway::inline v1
