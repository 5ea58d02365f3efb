#include <keyway/codegen/expr/expr.h>
#include <keyway/codegen/expr/expr_error.h>

#include <utility>

namespace keyway::inline v1 {
namespace {

void append(std::vector<ExprPtr>& out, const std::vector<CallArgument>& arguments) {
  for (const CallArgument& argument : arguments) out.push_back(argument.value);
}

std::vector<ExprPtr> children_of(const Expr::Node& node) {
  std::vector<ExprPtr> out;
  std::visit(Overloaded{
                 [&](const ListExpr& e) { out = e.items; },
                 [&](const TupleExpr& e) { out = e.items; },
                 [&](const UnaryExpr& e) { out = {e.operand}; },
                 [&](const BinaryExpr& e) {
                   out = {e.left, e.right};
                 },
                 [&](const CompareExpr& e) { out = e.operands; },
                 [&](const InExpr& e) {
                   out = {e.value};
                   out.insert(out.end(), e.choices.begin(), e.choices.end());
                 },
                 [&](const ChoiceExpr& e) {
                   out = {e.condition, e.yes, e.no};
                 },
                 [&](const CallExpr& e) { append(out, e.arguments); },
                 [&](const MethodExpr& e) {
                   out = {e.object};
                   append(out, e.arguments);
                 },
                 [&](const IndexExpr& e) {
                   out = {e.object, e.index};
                 },
                 [&](const SliceExpr& e) {
                   out = {e.object};
                   if (e.begin) out.push_back(e.begin);
                   if (e.end) out.push_back(e.end);
                 },
                 [&](const LetExpr& e) { out = {e.value}; },
                 [](const auto&) {},
             },
             node);
  return out;
}

}  // namespace

Binding binding_of(BinaryOp op) {
  switch (op) {
    case BinaryOp::Or: return Binding::Or;
    case BinaryOp::And: return Binding::And;
    case BinaryOp::Union: return Binding::Union;
    case BinaryOp::Add:
    case BinaryOp::Subtract: return Binding::Sum;
    default: return Binding::Product;
  }
}

Binding tighter(Binding binding) { return static_cast<Binding>(static_cast<int>(binding) + 1); }

ExprPtr make_expr(Expr::Node node, std::size_t offset) {
  int depth = 0;
  for (const ExprPtr& child : children_of(node)) depth = std::max(depth, child->depth);
  if (++depth > kMaxExprDepth) throw ExprError(offset, "nested more than {} deep", kMaxExprDepth);
  return std::make_shared<const Expr>(Expr{std::move(node), offset, depth});
}

std::vector<ExprPtr> children(const Expr& expr) { return children_of(expr.node); }

std::string_view to_string(UnaryOp op) { return op == UnaryOp::Negate ? "-" : "!"; }

std::string_view to_string(BinaryOp op) {
  constexpr std::string_view kTexts[] = {"||", "&&", "|", "+", "-", "*", "/", "%"};
  return kTexts[static_cast<int>(op)];
}

std::string_view to_string(CompareOp op) {
  constexpr std::string_view kTexts[] = {"==", "!=", "<", "<=", ">", ">="};
  return kTexts[static_cast<int>(op)];
}

}  // namespace keyway::inline v1
