// MetadataExpr: a checked expression over metadata as C++, in the words of ops/rules: contracts and dtype rules.
#pragma once

#include <keyway/codegen/emit/cpp_expr.h>
#include <keyway/core/schema/schema.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace keyway::inline v1 {

// The least number of dimensions that tensors have, by what contracts have said.
using KnownRanks = std::map<std::string, std::int64_t, std::less<>>;

class MetadataExpr final : public CppExpr {
 public:
  // What the name of a tensor stands for in a dtype rule: `self` -> `self.dtype()`.
  using DTypeOf = std::function<std::string(const std::string& name)>;

  // A contract: names are the variables of the guard.
  MetadataExpr(const CheckedExpr& expr, FunctionSchema schema) : CppExpr(expr), schema_(schema) {}
  // A dtype rule.
  MetadataExpr(const CheckedExpr& expr, FunctionSchema schema, DTypeOf dtype_of)
      : CppExpr(expr), schema_(schema), dtype_of_(std::move(dtype_of)) {}

  void know(const KnownRanks& ranks) { ranks_ = &ranks; }  // Requires: ranks outlives this
  // The C++ of a contract's text, which what computes gets for its errors; else that is a variable, `text_`.
  void say(Doc text) { text_ = std::move(text); }

  // The condition under which a contract fails, as a person would write it.
  Cpp negated(const Expr& expr);
  // A dtype or a set of them as a DtypeSet.
  Doc set(const Expr& expr);
  // A call of a predicate that says why, with the address of the string to say it in.
  Doc asking_why(const Expr& call);

  // Whether what has been printed checks its arithmetic, and so has the contract's text.
  bool uses_text() const { return uses_text_; }

 private:
  std::optional<CompareOp> inverse_of(const CompareExpr& compare) const;
  Cpp visit(const NoneExpr&, const Expr&) override { return {"NoArgument()"}; }
  Cpp visit(const NameExpr& e, const Expr& expr) override;
  Cpp visit(const InExpr& e, const Expr& expr) override;
  Cpp visit(const CallExpr& e, const Expr& expr) override;
  Cpp visit(const MethodExpr& e, const Expr& expr) override;
  Cpp visit(const IndexExpr& e, const Expr& expr) override;
  Cpp visit(const SliceExpr& e, const Expr& expr) override;
  Cpp unary(const UnaryExpr& e, const Expr& expr) override;
  Cpp arithmetic(const BinaryExpr& e, const Expr& expr) override;
  Cpp link(CompareOp op, const Expr& left, const Expr& right) override;
  Doc both(Doc left, Doc right) override;
  Doc branch(const Expr& value, const ExprType& of) override;

  bool compares_items(CompareOp op, const Expr& left, const Expr& right) const;
  Doc size_of(const Doc& object, const std::string& name, const MethodExpr& e);
  Doc method_of(const Doc& object, const MethodExpr& e);
  // What is asked of the result of an operator: of its plan.
  Doc planned(const Expr& call, const Doc& index, const MethodExpr& e);
  const Doc& contract_text();

  FunctionSchema schema_;  // whose arguments the names are
  DTypeOf dtype_of_;
  const KnownRanks* ranks_ = nullptr;
  Doc text_ = "text_";
  bool uses_text_ = false;
};

// Whether a predicate can say why it does not hold.
bool says_why(std::string_view predicate);

}  // namespace keyway::inline v1
