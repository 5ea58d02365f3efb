// check_expr: resolves the names of an expression and gives each of its nodes a type.
//
// Lists compute elementwise, and a single value or a list of one stands for a whole list; `==` and `!=` of
// two lists compare them whole. A method of a Tensor[] or of an optional maps over it. What may be None
// computes nothing until it has been tested: `dim == None || are_dims(dim, self.dim())`, `dtype != None ?
// dtype : ...`; contracts may rely on tests in those before them. `/` of two ints drops the remainder, as in
// C++; formulas may not do that, nor apply predicates to lists element by element.
#pragma once

#include <keyway/codegen/expr/expr.h>
#include <keyway/codegen/expr/expr_type.h>
#include <keyway/codegen/expr/function_table.h>
#include <keyway/codegen/expr/scope.h>

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace keyway::inline v1 {

struct ExprNote {
  ExprType type;
  ExprRole role = ExprRole::Plain;
  std::string target;                                 // Predicate, Method, Helper: its name; Operator: name.overload
  bool elementwise = false;                           // a predicate or method that was applied to each item of a list
  std::shared_ptr<const Signature> called = nullptr;  // by an Operator or Helper
};

// A tree with a note for each of its nodes.
class CheckedExpr {
 public:
  CheckedExpr(ExprPtr root, std::unordered_map<const Expr*, ExprNote> notes)
      : root_(std::move(root)), notes_(std::move(notes)) {}

  const Expr& root() const { return *root_; }
  const ExprPtr& root_ptr() const { return root_; }
  const ExprType& type() const { return note(*root_).type; }
  // Requires: `expr` is a node of this tree.
  const ExprNote& note(const Expr& expr) const { return notes_.at(&expr); }

 private:
  ExprPtr root_;
  std::unordered_map<const Expr*, ExprNote> notes_;
};

// `not_none` names what is known not to be None. Throws ExprError.
CheckedExpr check_expr(const ExprPtr& expr, ExprContext context, const Scope& scope, const FunctionTable& functions,
                       const std::vector<std::string>& not_none = {});

// Whether any node of a part of an expression has the role.
bool has_role(const CheckedExpr& expr, const Expr& part, ExprRole role);

// Whether a part of an expression is made of literals and constants alone.
bool is_constant(const CheckedExpr& expr, const Expr& part);

// The names that are known not to be None once `expr` is `outcome`.
std::vector<std::string> not_none_if(const Expr& expr, bool outcome);

}  // namespace keyway::inline v1
