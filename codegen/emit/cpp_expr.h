// CppExpr: a checked expression as C++. What operators and brackets look like is said here; what names, predicates and
// arithmetic become is for those who derive from it: contracts and dtype rules (cpp_metadata.h), and formulas
// (cpp_formula.h).
#pragma once

#include <keyway/codegen/emit/doc.h>
#include <keyway/codegen/expr/expr_checker.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace keyway::inline v1 {

// A piece of C++, and how tightly it binds.
struct Cpp {
  Doc doc;
  Binding binding = Binding::Postfix;

  // As an operand: in parentheses if it binds less tightly than it has to.
  Doc in(Binding wanted) const { return binding < wanted ? "(" + doc + ")" : doc; }
};

class CppExpr {
 public:
  explicit CppExpr(const CheckedExpr& expr) : expr_(expr) {}  // Requires: expr outlives this
  virtual ~CppExpr() = default;

  // Requires, here and below: `expr` is a node of the tree.
  Cpp print(const Expr& expr);
  Doc text(const Expr& expr, Binding wanted = Binding::Choice) { return print(expr).in(wanted); }
  Doc text() { return text(expr_.root()); }

 protected:
  CppExpr(const CppExpr&) = default;

  const ExprNote& note(const Expr& expr) const { return expr_.note(expr); }
  const ExprType& type(const Expr& expr) const { return note(expr).type; }
  std::vector<Doc> texts(const std::vector<ExprPtr>& items);
  std::vector<Doc> texts(const std::vector<CallArgument>& arguments);
  static Doc called(std::string_view function, std::vector<Doc> arguments);

  // left && right, left || right
  static Cpp logical(BinaryOp op, const Cpp& left, const Cpp& right);
  static Cpp infix(Doc left, std::string_view op, Doc right, Binding binding);
  // condition ? yes : no
  static Cpp choice(Doc condition, Doc yes, Doc no);
  // A comparison by an operator, which need not be the one in the text: with None a test of what is there.
  Cpp compared(CompareOp op, const Expr& left, const Expr& right);

  // --- What is different in contracts and formulas

  // What stands for an expression as a whole.
  virtual std::optional<Cpp> known(const Expr&) { return std::nullopt; }
  virtual Cpp visit(const NoneExpr& e, const Expr& expr) = 0;
  virtual Cpp visit(const NameExpr& e, const Expr& expr) = 0;
  virtual Cpp visit(const InExpr& e, const Expr& expr) = 0;
  virtual Cpp visit(const CallExpr& e, const Expr& expr) = 0;
  virtual Cpp visit(const MethodExpr& e, const Expr& expr) = 0;
  virtual Cpp visit(const IndexExpr& e, const Expr& expr) = 0;
  virtual Cpp visit(const SliceExpr& e, const Expr& expr) = 0;
  virtual Cpp unary(const UnaryExpr& e, const Expr& expr);
  // A binary operator that computes.
  virtual Cpp arithmetic(const BinaryExpr& e, const Expr& expr) = 0;
  // A comparison of values.
  virtual Cpp link(CompareOp op, const Expr& left, const Expr& right);
  // Two comparisons whose values are no bool.
  virtual Doc both(Doc left, Doc right) = 0;
  // The value of a choice of that type.
  virtual Doc branch(const Expr& value, const ExprType& of) = 0;
  // What may be None, to be asked whether it is.
  virtual Doc tested(const Expr& value) { return text(value, Binding::Postfix); }

 private:
  Cpp visit(const BoolExpr& e, const Expr&) { return {e.value ? "true" : "false"}; }
  Cpp visit(const IntExpr& e, const Expr&) { return {std::to_string(e.value)}; }
  Cpp visit(const FloatExpr& e, const Expr&) { return {e.spelling}; }
  Cpp visit(const StringExpr& e, const Expr&) { return {cpp_string(e.value)}; }
  Cpp visit(const LetExpr& e, const Expr&) { return print(*e.value); }
  Cpp visit(const ListExpr& e, const Expr& expr);
  Cpp visit(const TupleExpr& e, const Expr&);
  Cpp visit(const UnaryExpr& e, const Expr& expr) { return unary(e, expr); }
  Cpp visit(const BinaryExpr& e, const Expr& expr);
  Cpp visit(const CompareExpr& e, const Expr& expr);
  Cpp visit(const ChoiceExpr& e, const Expr& expr);

  const CheckedExpr& expr_;
};

}  // namespace keyway::inline v1
