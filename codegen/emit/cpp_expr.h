// CppExpr: a checked expression over metadata as C++, in the words of ops/rules: contracts and dtype rules.
#pragma once

#include <keyway/codegen/expr/expr_checker.h>
#include <keyway/core/schema/schema.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace keyway::inline v1 {

// The least number of dimensions that tensors have, by what contracts have said.
using KnownRanks = std::map<std::string, std::int64_t, std::less<>>;

class CppExpr {
 public:
  // What the name of a tensor stands for in a dtype rule: `self` -> `self.dtype()`.
  using DTypeOf = std::function<std::string(const std::string& name)>;

  // A contract: names are the variables of the guard.
  CppExpr(const CheckedExpr& expr, FunctionSchema schema) : expr_(expr), schema_(schema) {}
  // A dtype rule.
  CppExpr(const CheckedExpr& expr, FunctionSchema schema, DTypeOf dtype_of)
      : expr_(expr), schema_(schema), dtype_of_(std::move(dtype_of)) {}

  void know(const KnownRanks& ranks) { ranks_ = &ranks; }  // Requires: ranks outlives this
  // The C++ of a contract's text, which what computes gets for its errors; else that is a variable, `text_`.
  void say(std::string text) { text_ = std::move(text); }

  std::string text() { return print(expr_.root()); }
  std::string text(const Expr& node) { return print(node); }
  // A comparison of two, by another operator.
  std::string text_of_comparison(const CompareExpr& compare, CompareOp op);
  // As an operand: in parentheses unless it is a name, a call or a literal.
  std::string operand(const Expr& node);
  // A dtype or a set of them as a DtypeSet.
  std::string set_text() { return print_set(expr_.root()); }
  std::string set_text(const Expr& node) { return print_set(node); }
  // A call of a predicate that says why, with the address of the string to say it in.
  std::string asking_why(const Expr& call);

  // Whether what has been printed checks its arithmetic, and so has the contract's text.
  bool uses_text() const { return uses_text_; }

 private:
  std::string print(const Expr& expr);
  std::string visit(const NoneExpr&, const Expr& expr);
  std::string visit(const BoolExpr& e, const Expr&);
  std::string visit(const IntExpr& e, const Expr&);
  std::string visit(const FloatExpr& e, const Expr&);
  std::string visit(const StringExpr& e, const Expr&);
  std::string visit(const NameExpr& e, const Expr& expr);
  std::string visit(const ListExpr& e, const Expr& expr);
  std::string visit(const TupleExpr& e, const Expr&);
  std::string visit(const UnaryExpr& e, const Expr& expr);
  std::string visit(const BinaryExpr& e, const Expr& expr);
  std::string visit(const CompareExpr& e, const Expr& expr);
  std::string visit(const InExpr& e, const Expr& expr);
  std::string visit(const ChoiceExpr& e, const Expr& expr);
  std::string visit(const CallExpr& e, const Expr& expr);
  std::string visit(const MethodExpr& e, const Expr& expr);
  std::string visit(const IndexExpr& e, const Expr& expr);
  std::string visit(const SliceExpr& e, const Expr&);
  std::string visit(const LetExpr& e, const Expr&);

  bool is_infix(const Expr& expr) const;
  bool orders_scalars(const CompareExpr& compare) const;
  std::string print_set(const Expr& expr);
  std::string none_test(const Expr& value, bool is_none);
  bool compares_items(CompareOp op, const Expr& left, const Expr& right) const;
  std::string link(CompareOp op, const Expr& left, const Expr& right);
  std::string size_of(const std::string& object, const std::string& name, const MethodExpr& e);
  std::string method_of(const std::string& object, const MethodExpr& e);
  // The call of a predicate, with further arguments.
  std::string called(const CallExpr& e, std::string_view more);
  const std::string& contract_text();
  std::string mapped(const CallExpr& e);
  std::string planned(const CallExpr& e, const std::string& target);
  std::string joined(const std::vector<CallArgument>& arguments);
  const ExprType& type(const Expr& expr) const { return expr_.note(expr).type; }

  const CheckedExpr& expr_;
  FunctionSchema schema_;  // whose arguments the names are
  DTypeOf dtype_of_;
  const KnownRanks* ranks_ = nullptr;
  std::string text_ = "text_";
  bool uses_text_ = false;
};

// Whether a predicate can say why it does not hold.
bool says_why(std::string_view predicate);

}  // namespace keyway::inline v1
