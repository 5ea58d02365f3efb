#include <keyway/codegen/emit/cpp_expr.h>

#include <fmt/format.h>
#include <utility>

namespace keyway::inline v1 {

Cpp CppExpr::print(const Expr& expr) {
  if (auto whole = known(expr)) return std::move(*whole);
  return std::visit([&](const auto& e) { return visit(e, expr); }, expr.node);
}

std::vector<Doc> CppExpr::texts(const std::vector<ExprPtr>& items) {
  std::vector<Doc> out;
  for (const ExprPtr& item : items) out.push_back(text(*item));
  return out;
}

std::vector<Doc> CppExpr::texts(const std::vector<CallArgument>& arguments) {
  std::vector<Doc> out;
  for (const CallArgument& argument : arguments) out.push_back(text(*argument.value));
  return out;
}

Doc CppExpr::called(std::string_view function, std::vector<Doc> arguments) {
  return Doc::list(fmt::format("{}(", function), std::move(arguments), ")");
}

Cpp CppExpr::infix(Doc left, std::string_view op, Doc right, Binding binding) {
  return {Doc::infix(std::move(left), op, std::move(right)), binding};
}

// Also && within || goes in parentheses, as compilers want it.
Cpp CppExpr::logical(BinaryOp op, const Cpp& left, const Cpp& right) {
  const Binding binding = binding_of(op);
  const auto side = [&](const Cpp& part) {
    return part.in(part.binding == Binding::And && op == BinaryOp::Or ? Binding::Equality : binding);
  };
  return infix(side(left), to_string(op), side(right), binding);
}

Cpp CppExpr::choice(Doc condition, Doc yes, Doc no) {
  return {Doc::choice(std::move(condition), std::move(yes), std::move(no)), Binding::Choice};
}

Cpp CppExpr::compared(CompareOp op, const Expr& left, const Expr& right) {
  const bool equality = op == CompareOp::Equal || op == CompareOp::NotEqual;
  if (!equality || (!as<NoneExpr>(left) && !as<NoneExpr>(right))) return link(op, left, right);
  const Expr& value = as<NoneExpr>(left) ? right : left;
  const bool handle = type(value).is(ExprBase::Tensor) || type(value).is(ExprBase::Generator);
  const Doc test = tested(value) + (handle ? ".defined()" : ".has_value()");
  if (op == CompareOp::Equal) return {"!" + test, Binding::Prefix};
  return {test};
}

Cpp CppExpr::link(CompareOp op, const Expr& left, const Expr& right) {
  const bool equality = op == CompareOp::Equal || op == CompareOp::NotEqual;
  return infix(text(left, Binding::Sum), to_string(op), text(right, Binding::Sum),
               equality ? Binding::Equality : Binding::Relation);
}

Cpp CppExpr::visit(const ListExpr& e, const Expr& expr) {
  const ExprBase base = type(expr).base;
  const std::string_view name = base == ExprBase::Tensor  ? "variable_list{"
                                : base == ExprBase::Bool  ? "SmallVector<bool, 6>{"
                                : base == ExprBase::Float ? "SmallVector<double, 6>{"
                                                          : "DimVector{";
  return {Doc::list(name, texts(e.items), "}")};
}

Cpp CppExpr::visit(const TupleExpr& e, const Expr&) {
  std::vector<Doc> items;
  for (const ExprPtr& item : e.items) {
    Doc value = text(*item);
    items.push_back(type(*item).is(ExprBase::Tensor) ? called("Tensor", {std::move(value)}) : std::move(value));
  }
  return {called("std::tuple", std::move(items))};
}

Cpp CppExpr::unary(const UnaryExpr& e, const Expr&) {
  return {std::string(to_string(e.op)) + text(*e.operand, Binding::Postfix), Binding::Prefix};
}

Cpp CppExpr::visit(const BinaryExpr& e, const Expr& expr) {
  if (e.op == BinaryOp::And || e.op == BinaryOp::Or) return logical(e.op, print(*e.left), print(*e.right));
  return arithmetic(e, expr);
}

Cpp CppExpr::visit(const CompareExpr& e, const Expr& expr) {
  Cpp out = compared(e.ops[0], *e.operands[0], *e.operands[1]);
  for (std::size_t i = 1; i < e.ops.size(); ++i) {
    const Cpp next = compared(e.ops[i], *e.operands[i], *e.operands[i + 1]);
    out = type(expr).is(ExprBase::Bool) ? logical(BinaryOp::And, out, next) : Cpp{both(out.doc, next.doc)};
  }
  return out;
}

Cpp CppExpr::visit(const ChoiceExpr& e, const Expr& expr) {
  const ExprType& of = type(expr);
  return choice(text(*e.condition, Binding::Or), branch(*e.yes, of), branch(*e.no, of));
}

}  // namespace keyway::inline v1
