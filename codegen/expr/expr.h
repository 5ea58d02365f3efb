// Expr: the tree of an expression. One language serves contracts, derivatives, dtype rules, domains and
// examples:
//
//   expression  := 'let' name '=' choice | choice
//   choice      := either ['?' choice ':' choice]
//   either      := both ('||' both)*
//   both        := comparison ('&&' comparison)*
//   comparison  := union (('==' | '!=' | '<' | '<=' | '>' | '>=') union)* | union 'in' '{' choice, ... '}'
//   union       := sum ('|' sum)*                                   (sets of dtypes)
//   sum         := product (('+' | '-') product)*
//   product     := prefix (('*' | '/' | '%') prefix)*
//   prefix      := ('-' | '!') prefix | postfix
//   postfix     := primary ('.' name '(' arguments ')' | '[' choice ']' | '[' [choice] ':' [choice] ']')*
//   primary     := number | string | 'None' | 'True' | 'False' | name | name '(' arguments ')'
//                | '[' choice, ... ']' | '(' choice ')' | '(' choice ',' ... ')' | '(' ')'
//   arguments   := choice, ..., name '=' choice, ...
//
// Trees are immutable and shared. No tree is deeper than kMaxExprDepth, so that walking one may recurse.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace keyway::inline v1 {

inline constexpr int kMaxExprDepth = 64;

struct Expr;
using ExprPtr = std::shared_ptr<const Expr>;

enum class UnaryOp : std::uint8_t { Negate, Not };
enum class BinaryOp : std::uint8_t { Or, And, Union, Add, Subtract, Multiply, Divide, Remainder };
enum class CompareOp : std::uint8_t { Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual };
std::string_view to_string(UnaryOp op);
std::string_view to_string(BinaryOp op);
std::string_view to_string(CompareOp op);

// How tightly operators bind, here and, but for those of sets, in C++: an operand that binds less tightly than its
// place asks for goes in parentheses. Here comparisons of all kinds bind alike.
enum class Binding : std::uint8_t { Let, Choice, Or, And, Equality, Relation, Union, Sum, Product, Prefix, Postfix };
Binding binding_of(BinaryOp op);
// What an operand has to have that must not be of the same operator.
Binding tighter(Binding binding);

struct NoneExpr {};
struct BoolExpr {
  bool value;
};
struct IntExpr {
  std::int64_t value;
};
struct FloatExpr {
  double value;
  std::string spelling;
};
struct StringExpr {
  std::string value;
};
struct NameExpr {
  std::string name;
};
struct ListExpr {
  std::vector<ExprPtr> items;
};
struct TupleExpr {
  std::vector<ExprPtr> items;
};
struct UnaryExpr {
  UnaryOp op;
  ExprPtr operand;
};
struct BinaryExpr {
  BinaryOp op;
  ExprPtr left, right;
};
// a < b <= c means a < b && b <= c; generated C++ evaluates b twice, so it must have no side effects. ops[i] stands
// between operands[i] and operands[i + 1].
struct CompareExpr {
  std::vector<ExprPtr> operands;
  std::vector<CompareOp> ops;
};
// value in {a, b}
struct InExpr {
  ExprPtr value;
  std::vector<ExprPtr> choices;
};
struct ChoiceExpr {
  ExprPtr condition, yes, no;
};
struct CallArgument {
  std::string keyword;  // empty if positional; positional ones come first
  ExprPtr value;
};
struct CallExpr {
  std::string function;
  std::vector<CallArgument> arguments;
};
struct MethodExpr {
  ExprPtr object;
  std::string method;
  std::vector<CallArgument> arguments;
};
struct IndexExpr {
  ExprPtr object, index;
};
// object[begin:end]; an absent bound is null.
struct SliceExpr {
  ExprPtr object, begin, end;
};
// let name = value: an item of `requires`, never inside another expression.
struct LetExpr {
  std::string name;
  ExprPtr value;
};

struct Expr {
  using Node =
      std::variant<NoneExpr, BoolExpr, IntExpr, FloatExpr, StringExpr, NameExpr, ListExpr, TupleExpr, UnaryExpr,
                   BinaryExpr, CompareExpr, InExpr, ChoiceExpr, CallExpr, MethodExpr, IndexExpr, SliceExpr, LetExpr>;
  Node node;
  std::size_t offset;  // of the byte in the text that an error about this node points at
  int depth;           // 1 for a leaf
};

// The only way to make a node. Throws ExprError if the tree would be too deep.
ExprPtr make_expr(Expr::Node node, std::size_t offset);

// expr_parser.cpp: the tree of a text. Throws ExprError with the offset of the first mistake.
ExprPtr parse_expr(std::string_view text);
// expr_printer.cpp: the canonical text in the language of entries, whatever the types: one space around operators, no
// parenthesis that the grammar does not need. Parsing it gives an equal tree, so two expressions are the same if their
// texts are.
std::string to_text(const Expr& expr);

// The direct operands of a node, in the order of the text.
std::vector<ExprPtr> children(const Expr& expr);

// Calls f with every node of the tree.
template <typename Function>
void each_node(const Expr& expr, const Function& f) {
  f(expr);
  for (const ExprPtr& child : children(expr)) each_node(*child, f);
}
// Whether `holds` of any node of the tree.
template <typename Predicate>
bool any_node(const Expr& expr, const Predicate& holds) {
  if (holds(expr)) return true;
  return std::ranges::any_of(children(expr), [&](const ExprPtr& child) { return any_node(*child, holds); });
}

// The node as a T, or null.
template <typename T>
const T* as(const Expr& expr) {
  return std::get_if<T>(&expr.node);
}

// A visitor of several lambdas: std::visit(Overloaded{...}, expr.node).
template <typename... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <typename... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

}  // namespace keyway::inline v1
