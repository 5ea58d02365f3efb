#include <keyway/codegen/emit/cpp_expr.h>
#include <keyway/codegen/emit/cpp_text.h>
#include <keyway/codegen/emit/cpp_types.h>
#include <keyway/codegen/expr/expr_printer.h>

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string_view>
#include <utility>

namespace keyway::inline v1 {
namespace {

constexpr std::array<std::string_view, 7> kSayingWhy = {"are_dims", "broadcastable",  "broadcasts_to", "concatenable",
                                                        "is_dim",   "is_permutation", "same_sizes"};
// Predicates that compute, and take the contract's text for the error of an overflow.
constexpr std::array<std::string_view, 6> kComputing = {"abs",        "conv_sizes", "floor_div",
                                                        "pool_sizes", "product",    "sum"};

struct SetName {
  std::string_view name;
  std::string_view cpp;
};
constexpr SetName kSets[] = {{"any", "kAnyTypes"},       {"complex", "kComplexTypes"},
                             {"float8", "kFloat8Types"}, {"floating", "kFloatingTypes"},
                             {"real", "kRealTypes"},     {"integral", "kIntegralTypes"}};

// Predicates that have a name of their own in C++.
std::string function_of(std::string_view predicate) {
  if (predicate == "default_dtype") return "get_default_dtype";
  if (predicate == "promoted") return "checked_promote_types";
  if (predicate == "accumulate") return "accumulate_type";
  if (predicate == "to_floating") return "to_float";
  if (predicate == "to_real" || predicate == "to_complex") return std::string(predicate);
  return fmt::format("contract::{}", predicate);
}

bool contains(const auto& names, std::string_view name) { return std::ranges::find(names, name) != names.end(); }

bool is_ordering(CompareOp op) { return op != CompareOp::Equal && op != CompareOp::NotEqual; }

std::string_view name_of(CompareOp op) {
  switch (op) {
    case CompareOp::Equal: return "equal";
    case CompareOp::NotEqual: return "not_equal";
    case CompareOp::Less: return "less";
    case CompareOp::LessEqual: return "less_equal";
    case CompareOp::Greater: return "greater";
    case CompareOp::GreaterEqual: return "greater_equal";
  }
  return {};
}

// What stands for the operator as a value: std::greater<>().
std::string functor_of(CompareOp op) { return fmt::format("std::{}{}<>()", name_of(op), is_ordering(op) ? "" : "_to"); }

std::string_view name_of(BinaryOp op) {
  switch (op) {
    case BinaryOp::Add: return "add";
    case BinaryOp::Subtract: return "sub";
    case BinaryOp::Multiply: return "mul";
    case BinaryOp::Divide: return "div";
    default: return "mod";
  }
}

}  // namespace

bool says_why(std::string_view predicate) { return contains(kSayingWhy, predicate); }

std::string CppExpr::print(const Expr& expr) {
  return std::visit([&](const auto& e) { return visit(e, expr); }, expr.node);
}

// Whether it prints as operands with an operator between them, and not as a call.
bool CppExpr::is_infix(const Expr& expr) const {
  const ExprType& of = type(expr);
  if (as<ChoiceExpr>(expr)) return true;
  if (const auto* e = as<BinaryExpr>(expr))
    return e->op == BinaryOp::And || e->op == BinaryOp::Or || e->op == BinaryOp::Union ||
           (of.depth == 0 && of.base != ExprBase::Int);
  const auto* compare = as<CompareExpr>(expr);
  return compare && of.depth == 0 && !(compare->ops.size() == 1 && orders_scalars(*compare));
}

// start <= end of numbers prints as a call.
bool CppExpr::orders_scalars(const CompareExpr& compare) const {
  const auto is_scalar = [&](const ExprPtr& e) { return type(*e).base == ExprBase::Scalar; };
  return is_ordering(compare.ops.front()) && (is_scalar(compare.operands[0]) || is_scalar(compare.operands[1]));
}

std::string CppExpr::operand(const Expr& expr) {
  return is_infix(expr) ? fmt::format("({})", print(expr)) : print(expr);
}

std::string CppExpr::visit(const NoneExpr&, const Expr&) { return "NoArgument()"; }
std::string CppExpr::visit(const BoolExpr& e, const Expr&) { return e.value ? "true" : "false"; }
std::string CppExpr::visit(const IntExpr& e, const Expr&) { return fmt::format("{}", e.value); }
std::string CppExpr::visit(const FloatExpr& e, const Expr&) { return e.spelling; }
std::string CppExpr::visit(const StringExpr& e, const Expr&) { return cpp_string(e.value); }
std::string CppExpr::visit(const LetExpr& e, const Expr&) { return print(*e.value); }

std::string CppExpr::visit(const NameExpr& e, const Expr& expr) {
  const ExprNote& note = expr_.note(expr);
  if (note.role == ExprRole::Constant) return std::string(cpp_constant(e.name));
  if (dtype_of_ && note.type.base == ExprBase::DType) {
    std::string dtype = dtype_of_(e.name);
    if (!dtype.empty()) return dtype;
  }
  // What may be None and has been tested is a std::optional, unless it is a tensor.
  const auto index = note.role == ExprRole::Argument ? schema_.arguments().find(e.name) : std::nullopt;
  if (!index || note.type.optional || note.type.base == ExprBase::Tensor) return e.name;
  return is_std_optional(schema_.arguments()[*index].type()) ? "*" + e.name : e.name;
}

std::string CppExpr::visit(const ListExpr& e, const Expr& expr) {
  std::string items;
  for (const ExprPtr& item : e.items) items += (items.empty() ? "" : ", ") + print(*item);
  const ExprBase base = type(expr).base;
  if (base == ExprBase::Int || base == ExprBase::Unknown) return fmt::format("DimVector{{{}}}", items);
  return fmt::format("SmallVector<{}, 6>{{{}}}", base == ExprBase::Bool ? "bool" : "double", items);
}

std::string CppExpr::visit(const TupleExpr& e, const Expr&) {
  std::string items;
  for (const ExprPtr& item : e.items) items += (items.empty() ? "" : ", ") + print(*item);
  return fmt::format("std::tuple({})", items);
}

std::string CppExpr::visit(const UnaryExpr& e, const Expr& expr) {
  const bool list = type(expr).depth > 0;
  if (e.op == UnaryOp::Not)
    return list ? fmt::format("lists::map(std::logical_not<>(), {})", print(*e.operand)) : "!" + operand(*e.operand);
  const bool literal = as<IntExpr>(*e.operand) || as<FloatExpr>(*e.operand);
  if (literal || (!list && type(expr).base == ExprBase::Float)) return "-" + operand(*e.operand);
  if (type(expr).is(ExprBase::Scalar)) return fmt::format("-{}", operand(*e.operand));
  return fmt::format("{}::sub(0, {}, {})", list ? "lists" : "contract", print(*e.operand), contract_text());
}

std::string CppExpr::visit(const BinaryExpr& e, const Expr& expr) {
  if (e.op == BinaryOp::Union) return print_set(expr);
  if (e.op == BinaryOp::And || e.op == BinaryOp::Or) {
    const auto side = [&](const Expr& part) {
      const auto* inner = as<BinaryExpr>(part);
      return as<CompareExpr>(part) || (inner && inner->op == e.op) ? print(part) : operand(part);
    };
    std::string left = side(*e.left);
    // A chain of comparisons prints as a && b.
    const auto wrap = [&](const Expr& part, std::string text) {
      const auto* chain = as<CompareExpr>(part);
      return chain && chain->ops.size() > 1 && e.op == BinaryOp::Or ? fmt::format("({})", text) : text;
    };
    left = wrap(*e.left, std::move(left));
    return fmt::format("{} {} {}", left, e.op == BinaryOp::And ? "&&" : "||", wrap(*e.right, side(*e.right)));
  }
  const ExprType& result = type(expr);
  const std::string_view name = name_of(e.op);
  if (result.depth > 0) {
    if (e.op == BinaryOp::Divide) return fmt::format("lists::div({}, {})", print(*e.left), print(*e.right));
    return fmt::format("lists::{}({}, {}, {})", name, print(*e.left), print(*e.right), contract_text());
  }
  if (result.base == ExprBase::Int)
    return fmt::format("contract::{}({}, {}, {})", name, print(*e.left), print(*e.right), contract_text());
  const auto number = [&](const Expr& part) {
    if (type(part).base == ExprBase::Scalar) return operand(part) + ".to<double>()";
    return type(part).base == ExprBase::Int ? fmt::format("static_cast<double>({})", print(part)) : operand(part);
  };
  return fmt::format("{} {} {}", number(*e.left), to_string(e.op), number(*e.right));
}

std::string CppExpr::none_test(const Expr& value, bool is_none) {
  const ExprBase base = type(value).base;
  const bool handle = base == ExprBase::Tensor || base == ExprBase::Generator;
  return fmt::format("{}{}.{}()", is_none ? "!" : "", operand(value),
                     handle && type(value).depth == 0 ? "defined" : "has_value");
}

std::string CppExpr::text_of_comparison(const CompareExpr& compare, CompareOp op) {
  return link(op, *compare.operands[0], *compare.operands[1]);
}

// Whether the operator gives a list: of what each item says.
bool CppExpr::compares_items(CompareOp op, const Expr& left, const Expr& right) const {
  if (as<NoneExpr>(left) || as<NoneExpr>(right)) return false;
  const int a = type(left).depth;
  const int b = type(right).depth;
  return is_ordering(op) ? a > 0 || b > 0 : a != b;
}

std::string CppExpr::link(CompareOp op, const Expr& left, const Expr& right) {
  const bool equality = !is_ordering(op);
  if (equality && as<NoneExpr>(right)) return none_test(left, op == CompareOp::Equal);
  if (equality && as<NoneExpr>(left)) return none_test(right, op == CompareOp::Equal);
  if (compares_items(op, left, right)) return fmt::format("lists::{}({}, {})", name_of(op), print(left), print(right));
  const bool scalars = type(left).base == ExprBase::Scalar || type(right).base == ExprBase::Scalar;
  if (scalars && !equality) {
    const bool swap = op == CompareOp::Greater || op == CompareOp::GreaterEqual;
    const bool strict = op == CompareOp::Less || op == CompareOp::Greater;
    return fmt::format("contract::{}({}, {})", strict ? "less" : "less_equal", print(swap ? right : left),
                       print(swap ? left : right));
  }
  return fmt::format("{} {} {}", operand(left), to_string(op), operand(right));
}

std::string CppExpr::visit(const CompareExpr& e, const Expr& expr) {
  std::string out;
  for (std::size_t i = 0; i < e.ops.size(); ++i) {
    const Expr& left = *e.operands[i];
    const Expr& right = *e.operands[i + 1];
    std::string text = link(e.ops[i], left, right);
    if (out.empty())
      out = std::move(text);
    else if (type(expr).depth > 0)
      out = fmt::format("lists::map(std::logical_and<>(), {}, {})", out, text);
    else
      out += " && " + text;
  }
  return out;
}

std::string CppExpr::visit(const InExpr& e, const Expr& expr) {
  std::string choices;
  for (const ExprPtr& choice : e.choices) choices += (choices.empty() ? "" : ", ") + print(*choice);
  if (type(expr).depth == 0) return fmt::format("contract::in({}, {{{}}})", print(*e.value), choices);
  return fmt::format("lists::map([&](const auto& x) {{ return contract::in(x, {{{}}}); }}, {})", choices,
                     print(*e.value));
}

std::string CppExpr::visit(const ChoiceExpr& e, const Expr& expr) {
  const ExprType& result = type(expr);
  const auto branch = [&](const Expr& part) {
    if (result.base == ExprBase::DTypeSet) return print_set(part);
    if (result.base == ExprBase::Int && result.depth == 1) return fmt::format("IntArrayRef({})", print(part));
    if (result.is(ExprBase::Scalar)) return fmt::format("Scalar({})", print(part));
    return as<ChoiceExpr>(part) ? print(part) : operand(part);
  };
  const std::string yes = branch(*e.yes);
  const std::string condition = as<CompareExpr>(*e.condition) ? print(*e.condition) : operand(*e.condition);
  return fmt::format("{} ? {} : {}", condition, yes, branch(*e.no));
}

std::string CppExpr::joined(const std::vector<CallArgument>& arguments) {
  std::string out;
  for (const CallArgument& argument : arguments) out += (out.empty() ? "" : ", ") + print(*argument.value);
  return out;
}

std::string CppExpr::visit(const CallExpr& e, const Expr& expr) {
  const ExprNote& note = expr_.note(expr);
  if (note.role == ExprRole::Operator) return planned(e, note.target);
  if (note.elementwise) return mapped(e);
  if (e.function == "all") {
    const auto* compare = as<CompareExpr>(*e.arguments.front().value);
    if (compare && compare->ops.size() == 1 &&
        compares_items(compare->ops[0], *compare->operands[0], *compare->operands[1]))
      return fmt::format("lists::all({}, {}, {})", functor_of(compare->ops[0]), print(*compare->operands[0]),
                         print(*compare->operands[1]));
  }
  return called(e, {});
}

const std::string& CppExpr::contract_text() {
  uses_text_ = true;
  return text_;
}

std::string CppExpr::called(const CallExpr& e, std::string_view more) {
  std::string arguments = joined(e.arguments);
  if (contains(kComputing, e.function)) arguments += ", " + contract_text();
  return fmt::format("{}({}{})", function_of(e.function), arguments, more);
}

std::string CppExpr::mapped(const CallExpr& e) {
  const std::string text = contains(kComputing, e.function) ? ", " + contract_text() : "";
  return fmt::format("lists::map([&](const auto&... x) {{ return {}(x...{}); }}, {})", function_of(e.function), text,
                     joined(e.arguments));
}

std::string CppExpr::planned(const CallExpr& e, const std::string& target) {
  std::string id = target;
  std::ranges::replace(id, '.', '_');
  return fmt::format("planned(plans::{}, {})", id, joined(e.arguments));
}

std::string CppExpr::asking_why(const Expr& call) { return called(*as<CallExpr>(call), ", &why_"); }

std::string CppExpr::size_of(const std::string& object, const std::string& name, const MethodExpr& e) {
  const auto* dim = e.arguments.size() == 1 ? as<IntExpr>(*e.arguments[0].value) : nullptr;
  if (dim && ranks_) {
    const auto rank = ranks_->find(name);
    if (rank != ranks_->end() && dim->value < rank->second) return fmt::format("{}.sizes()[{}]", object, dim->value);
  }
  return fmt::format("contract::size({}, {}, {})", object, cpp_string(name), joined(e.arguments));
}

// A method of one thing.
std::string CppExpr::method_of(const std::string& object, const MethodExpr& e) {
  const ExprType& of = type(*e.object);
  const bool free = of.base == ExprBase::DType;  // is_floating_point(dtype)
  if (free) return fmt::format("{}({})", e.method, object);
  if (e.method == "size" && as<NameExpr>(*e.object) && of.depth == 0)
    return size_of(object, as<NameExpr>(*e.object)->name, e);
  return fmt::format("{}.{}({})", object, e.method, joined(e.arguments));
}

std::string CppExpr::visit(const MethodExpr& e, const Expr&) {
  const Expr* object = e.object.get();
  std::string index = "0";
  if (const auto* picked = as<IndexExpr>(*object); picked && expr_.note(*picked->object).role == ExprRole::Operator) {
    index = print(*picked->index);
    object = picked->object.get();
  }
  if (expr_.note(*object).role == ExprRole::Operator) {
    const std::string plan = print(*object);
    if (e.method == "dtype") return fmt::format("{}.dtype[{}]", plan, index);
    const std::string sizes = fmt::format("{}.meta[{}].sizes", plan, index);
    if (e.method == "dim") return fmt::format("contract::len({})", sizes);
    if (e.method == "size") return fmt::format("lists::at({}, {})", sizes, joined(e.arguments));
    return sizes;
  }
  const ExprType& of = type(*e.object);
  if (of.depth == 0 && e.arguments.size() == 1 && type(*e.arguments[0].value).depth > 0)
    return fmt::format("lists::map([&](std::int64_t x) {{ return contract::size({0}, {1}, x); }}, {2})",
                       print(*e.object), cpp_string(to_text(*e.object)), joined(e.arguments));
  if (of.depth > 0)
    return fmt::format("lists::{}({}, [&](const TensorBase& x) {{ return {}; }})",
                       of.optional_items ? "each_defined" : "each", print(*e.object), method_of("x", e));
  if (of.optional)
    return fmt::format("contract::if_defined({}, [&](const TensorBase& x) {{ return x.{}({}); }})", print(*e.object),
                       e.method, joined(e.arguments));
  return method_of(operand(*e.object), e);
}

std::string CppExpr::visit(const IndexExpr& e, const Expr&) {
  return fmt::format("lists::at({}, {})", print(*e.object), print(*e.index));
}

std::string CppExpr::visit(const SliceExpr& e, const Expr&) {
  return fmt::format("lists::slice({}, {}{})", print(*e.object), e.begin ? print(*e.begin) : "0",
                     e.end ? ", " + print(*e.end) : "");
}

std::string CppExpr::print_set(const Expr& expr) {
  if (const auto* both = as<BinaryExpr>(expr); both && both->op == BinaryOp::Union)
    return fmt::format("{} | {}", print_set(*both->left), print_set(*both->right));
  if (const auto* name = as<NameExpr>(expr)) {
    const auto* set = std::ranges::find(kSets, name->name, &SetName::name);
    if (set != std::end(kSets)) return std::string(set->cpp);
  }
  if (type(expr).base == ExprBase::DTypeSet) return print(expr);
  return fmt::format("DtypeSet({})", print(expr));
}

}  // namespace keyway::inline v1
