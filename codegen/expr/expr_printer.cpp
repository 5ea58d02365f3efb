#include <keyway/codegen/base/names.h>
#include <keyway/codegen/expr/expr.h>

#include <fmt/format.h>

namespace keyway::inline v1 {
namespace {

Binding binding_of(const Expr& expr) {
  return std::visit(Overloaded{
                        [](const LetExpr&) { return Binding::Let; },
                        [](const ChoiceExpr&) { return Binding::Choice; },
                        [](const BinaryExpr& e) { return binding_of(e.op); },
                        [](const CompareExpr&) { return Binding::Equality; },
                        [](const InExpr&) { return Binding::Equality; },
                        [](const UnaryExpr&) { return Binding::Prefix; },
                        [](const auto&) { return Binding::Postfix; },
                    },
                    expr.node);
}

std::string print(const Expr& expr);

std::string print(const Expr& expr, Binding wanted) {
  return binding_of(expr) < wanted ? fmt::format("({})", print(expr)) : print(expr);
}

std::string join(const std::vector<ExprPtr>& items) {
  return joined(texts_of(items, [](const ExprPtr& item) { return print(*item, Binding::Choice); }));
}

std::string join(const std::vector<CallArgument>& arguments) {
  return joined(texts_of(arguments, [](const CallArgument& argument) {
    return argument.keyword + (argument.keyword.empty() ? "" : "=") + print(*argument.value, Binding::Choice);
  }));
}

std::string optional(const ExprPtr& expr) { return expr ? print(*expr, Binding::Choice) : std::string(); }

std::string print(const CompareExpr& chain) {
  std::string out = print(*chain.operands.front(), Binding::Union);
  for (std::size_t i = 0; i < chain.ops.size(); ++i)
    out += fmt::format(" {} {}", to_string(chain.ops[i]), print(*chain.operands[i + 1], Binding::Union));
  return out;
}

std::string quote(const std::string& text) {
  const char quote = text.find('\'') == std::string::npos ? '\'' : '"';
  return quote + text + quote;
}

std::string print(const BinaryExpr& e) {
  const Binding binding = binding_of(e.op);
  return fmt::format("{} {} {}", print(*e.left, binding), to_string(e.op), print(*e.right, tighter(binding)));
}

std::string print(const Expr& expr) {
  return std::visit(
      Overloaded{
          [](const NoneExpr&) { return std::string("None"); },
          [](const BoolExpr& e) { return std::string(e.value ? "True" : "False"); },
          [](const IntExpr& e) { return fmt::to_string(e.value); },
          [](const FloatExpr& e) { return e.spelling; },
          [](const StringExpr& e) { return quote(e.value); },
          [](const NameExpr& e) { return e.name; },
          [](const ListExpr& e) { return fmt::format("[{}]", join(e.items)); },
          [](const TupleExpr& e) { return fmt::format("({}{})", join(e.items), e.items.size() == 1 ? "," : ""); },
          [](const UnaryExpr& e) { return fmt::format("{}{}", to_string(e.op), print(*e.operand, Binding::Prefix)); },
          [](const BinaryExpr& e) { return print(e); },
          [](const CompareExpr& e) { return print(e); },
          [](const InExpr& e) { return fmt::format("{} in {{{}}}", print(*e.value, Binding::Union), join(e.choices)); },
          [](const ChoiceExpr& e) {
            return fmt::format("{} ? {} : {}", print(*e.condition, Binding::Or), print(*e.yes, Binding::Choice),
                               print(*e.no, Binding::Choice));
          },
          [](const CallExpr& e) { return fmt::format("{}({})", e.function, join(e.arguments)); },
          [](const MethodExpr& e) {
            return fmt::format("{}.{}({})", print(*e.object, Binding::Postfix), e.method, join(e.arguments));
          },
          [](const IndexExpr& e) {
            return fmt::format("{}[{}]", print(*e.object, Binding::Postfix), print(*e.index, Binding::Choice));
          },
          [](const SliceExpr& e) {
            return fmt::format("{}[{}:{}]", print(*e.object, Binding::Postfix), optional(e.begin), optional(e.end));
          },
          [](const LetExpr& e) { return fmt::format("let {} = {}", e.name, print(*e.value, Binding::Choice)); },
      },
      expr.node);
}

}  // namespace

std::string to_text(const Expr& expr) { return print(expr); }

}  // namespace keyway::inline v1
