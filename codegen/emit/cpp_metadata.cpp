#include <keyway/codegen/base/names.h>
#include <keyway/codegen/emit/cpp_metadata.h>
#include <keyway/codegen/emit/cpp_types.h>

#include <algorithm>
#include <fmt/format.h>
#include <vector>

namespace keyway::inline v1 {
namespace {

constexpr std::string_view kSayingWhy[] = {"are_dims", "broadcastable",  "broadcasts_to", "concatenable",
                                           "is_dim",   "is_permutation", "same_sizes"};
// Predicates that compute, and take the contract's text for the error of an overflow.
constexpr std::string_view kComputing[] = {"abs", "conv_sizes", "pool_sizes", "product", "sum"};

constexpr CppWord kSets[] = {{"any", "kAnyTypes"},       {"complex", "kComplexTypes"},
                             {"float8", "kFloat8Types"}, {"floating", "kFloatingTypes"},
                             {"real", "kRealTypes"},     {"integral", "kIntegralTypes"}};

// Predicates that are no functions of contract::.
constexpr CppWord kFunctions[] = {{"default_dtype", "get_default_dtype"},
                                  {"promoted", "checked_promote_types"},
                                  {"accumulate", "accumulate_type"},
                                  {"to_floating", "to_float"},
                                  {"to_real", "to_real"},
                                  {"to_complex", "to_complex"}};

std::string function_of(std::string_view predicate) {
  const std::string_view own = cpp_word(kFunctions, predicate, "");
  return own.empty() ? fmt::format("contract::{}", predicate) : std::string(own);
}

bool is_ordering(CompareOp op) { return op != CompareOp::Equal && op != CompareOp::NotEqual; }

std::string_view name_of(CompareOp op) {
  constexpr std::string_view kNames[] = {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"};
  return kNames[static_cast<int>(op)];
}

// What stands for the operator as a value: std::greater<>().
std::string functor_of(CompareOp op) { return fmt::format("std::{}{}<>()", name_of(op), is_ordering(op) ? "" : "_to"); }

// Of one that computes.
std::string_view name_of(BinaryOp op) {
  constexpr std::string_view kNames[] = {"add", "sub", "mul", "div", "mod"};
  return kNames[static_cast<int>(op) - static_cast<int>(BinaryOp::Add)];
}

Doc lambda(std::string_view parameter, Doc value) {
  return fmt::format("[&]({}) {{ return ", parameter) + std::move(value) + "; }";
}

}  // namespace

bool says_why(std::string_view predicate) { return contains(kSayingWhy, predicate); }

const Doc& MetadataExpr::contract_text() {
  uses_text_ = true;
  return text_;
}

// --- Names and operators

Cpp MetadataExpr::visit(const NameExpr& e, const Expr& expr) {
  if (note(expr).role == ExprRole::Constant) return {cpp_constant(e.name)};
  if (dtype_of_ && type(expr).base == ExprBase::DType) {
    std::string dtype = dtype_of_(e.name);
    if (!dtype.empty()) return {std::move(dtype)};
  }
  // What may be None and has been tested is a std::optional, unless it is a tensor.
  const auto index = note(expr).role == ExprRole::Argument ? schema_.arguments().find(e.name) : std::nullopt;
  if (!index || type(expr).optional || type(expr).base == ExprBase::Tensor) return {e.name};
  return is_std_optional(schema_.arguments()[*index].type()) ? Cpp{"*" + e.name, Binding::Prefix} : Cpp{e.name};
}

Cpp MetadataExpr::unary(const UnaryExpr& e, const Expr& expr) {
  const ExprType& of = type(expr);
  const bool list = of.depth > 0;
  if (e.op == UnaryOp::Not)
    return list ? Cpp{called("lists::map", {"std::logical_not<>()", text(*e.operand)})} : CppExpr::unary(e, expr);
  const bool literal = as<IntExpr>(*e.operand) || as<FloatExpr>(*e.operand);
  if (literal || of.is(ExprBase::Float) || of.is(ExprBase::Scalar)) return CppExpr::unary(e, expr);
  return {called(list ? "lists::sub" : "contract::sub", {"0", text(*e.operand), contract_text()})};
}

Cpp MetadataExpr::arithmetic(const BinaryExpr& e, const Expr& expr) {
  if (e.op == BinaryOp::Union) return {set(expr), Binding::Union};
  const ExprType& result = type(expr);
  if (result.depth > 0 && e.op == BinaryOp::Divide) return {called("lists::div", {text(*e.left), text(*e.right)})};
  if (result.depth > 0 || result.base == ExprBase::Int)
    return {called(fmt::format("{}::{}", result.depth > 0 ? "lists" : "contract", name_of(e.op)),
                   {text(*e.left), text(*e.right), contract_text()})};
  const Binding binding = binding_of(e.op);
  const auto number = [&](const Expr& part, Binding wanted) {
    if (type(part).base == ExprBase::Scalar) return text(part, Binding::Postfix) + ".to<double>()";
    return type(part).base == ExprBase::Int ? called("static_cast<double>", {text(part)}) : text(part, wanted);
  };
  return infix(number(*e.left, binding), to_string(e.op), number(*e.right, tighter(binding)), binding);
}

// Whether the operator gives a list: of what each item says.
bool MetadataExpr::compares_items(CompareOp op, const Expr& left, const Expr& right) const {
  if (as<NoneExpr>(left) || as<NoneExpr>(right)) return false;
  const int a = type(left).depth;
  const int b = type(right).depth;
  return is_ordering(op) ? a > 0 || b > 0 : a != b;
}

Cpp MetadataExpr::link(CompareOp op, const Expr& left, const Expr& right) {
  if (compares_items(op, left, right))
    return {called(fmt::format("lists::{}", name_of(op)), {text(left), text(right)})};
  const bool scalars = type(left).base == ExprBase::Scalar || type(right).base == ExprBase::Scalar;
  if (!scalars || !is_ordering(op)) return CppExpr::link(op, left, right);
  const bool swap = op == CompareOp::Greater || op == CompareOp::GreaterEqual;
  const bool strict = op == CompareOp::Less || op == CompareOp::Greater;
  return {called(strict ? "contract::less" : "contract::less_equal",
                 {text(swap ? right : left), text(swap ? left : right)})};
}

Doc MetadataExpr::both(Doc left, Doc right) {
  return called("lists::map", {"std::logical_and<>()", std::move(left), std::move(right)});
}

Cpp MetadataExpr::visit(const InExpr& e, const Expr& expr) {
  const auto in = [&](Doc value) {
    return called("contract::in", {std::move(value), Doc::list("{", texts(e.choices), "}")});
  };
  if (type(expr).depth == 0) return {in(text(*e.value))};
  return {called("lists::map", {lambda("const auto& x_", in("x_")), text(*e.value)})};
}

Doc MetadataExpr::branch(const Expr& value, const ExprType& of) {
  if (of.base == ExprBase::DTypeSet) return set(value);
  if (of.base == ExprBase::Int && of.depth == 1) return called("IntArrayRef", {text(value)});
  return of.is(ExprBase::Scalar) ? called("Scalar", {text(value)}) : text(value);
}

Doc MetadataExpr::set(const Expr& expr) {
  if (const auto* both = as<BinaryExpr>(expr); both && both->op == BinaryOp::Union) {
    const auto side = [&](const Expr& part) {
      return as<ChoiceExpr>(part) && type(part).base == ExprBase::DTypeSet ? "(" + set(part) + ")" : set(part);
    };
    return Doc::infix(side(*both->left), "|", side(*both->right));
  }
  if (const auto* name = as<NameExpr>(expr)) {
    const std::string_view found = cpp_word(kSets, name->name, "");
    if (!found.empty()) return found;
  }
  return type(expr).base == ExprBase::DTypeSet ? text(expr) : called("DtypeSet", {text(expr)});
}

// --- What does not hold

Cpp MetadataExpr::negated(const Expr& expr) {
  if (const auto* both = as<BinaryExpr>(expr))
    return logical(both->op == BinaryOp::Or ? BinaryOp::And : BinaryOp::Or, negated(*both->left),
                   negated(*both->right));
  if (const auto* e = as<ChoiceExpr>(expr))
    return choice(text(*e->condition, Binding::Or), negated(*e->yes).doc, negated(*e->no).doc);
  if (const auto* unary = as<UnaryExpr>(expr); unary && unary->op == UnaryOp::Not) return print(*unary->operand);
  if (const auto* compare = as<CompareExpr>(expr); compare && compare->ops.size() == 1)
    if (const auto inverse = inverse_of(*compare))
      return compared(*inverse, *compare->operands[0], *compare->operands[1]);
  return {"!" + text(expr, Binding::Prefix), Binding::Prefix};
}

// The operator that holds where another does not. Numbers other than integers need not be ordered.
std::optional<CompareOp> MetadataExpr::inverse_of(const CompareExpr& compare) const {
  constexpr CompareOp kInverse[] = {CompareOp::NotEqual, CompareOp::Equal,     CompareOp::GreaterEqual,
                                    CompareOp::Greater,  CompareOp::LessEqual, CompareOp::Less};
  const CompareOp op = compare.ops.front();
  const bool ints = type(*compare.operands[0]).is(ExprBase::Int) && type(*compare.operands[1]).is(ExprBase::Int);
  return is_ordering(op) && !ints ? std::nullopt : std::optional(kInverse[static_cast<int>(op)]);
}

// --- Predicates, methods and items

Cpp MetadataExpr::visit(const CallExpr& e, const Expr& expr) {
  if (note(expr).role == ExprRole::Operator) {
    std::string plan = "plans::" + note(expr).target;
    std::ranges::replace(plan, '.', '_');
    return {called("planned", concatenated({std::move(plan)}, texts(e.arguments)))};
  }
  if (e.function == "all") {
    const auto* compare = as<CompareExpr>(*e.arguments.front().value);
    if (compare && compare->ops.size() == 1 &&
        compares_items(compare->ops[0], *compare->operands[0], *compare->operands[1]))
      return {called("lists::all", concatenated({functor_of(compare->ops[0])}, texts(compare->operands)))};
  }
  const bool computes = contains(kComputing, e.function);
  const std::string function = function_of(e.function);
  std::vector<Doc> arguments = texts(e.arguments);
  if (note(expr).elementwise) {
    Doc each = called(function, computes ? std::vector<Doc>{"x_...", contract_text()} : std::vector<Doc>{"x_..."});
    return {called("lists::map", concatenated({lambda("const auto&... x_", std::move(each))}, std::move(arguments)))};
  }
  if (computes) arguments.push_back(contract_text());
  return {called(function, std::move(arguments))};
}

Doc MetadataExpr::asking_why(const Expr& call) {
  const auto* e = as<CallExpr>(call);
  std::vector<Doc> arguments = texts(e->arguments);
  arguments.emplace_back("&why_");
  return called(function_of(e->function), std::move(arguments));
}

Doc MetadataExpr::size_of(const Doc& object, const std::string& name, const MethodExpr& e) {
  const auto* dim = e.arguments.size() == 1 ? as<IntExpr>(*e.arguments[0].value) : nullptr;
  if (dim && ranks_) {
    const auto rank = ranks_->find(name);
    if (rank != ranks_->end() && dim->value < rank->second) return object + fmt::format(".sizes()[{}]", dim->value);
  }
  return called("contract::size", concatenated({object, cpp_string(name)}, texts(e.arguments)));
}

// A method of one thing.
Doc MetadataExpr::method_of(const Doc& object, const MethodExpr& e) {
  const ExprType& of = type(*e.object);
  if (of.base == ExprBase::DType) return called(e.method, {object});  // is_floating_point(dtype)
  if (e.method == "size" && as<NameExpr>(*e.object) && of.depth == 0)
    return size_of(object, as<NameExpr>(*e.object)->name, e);
  return object + called("." + e.method, texts(e.arguments));
}

Doc MetadataExpr::planned(const Expr& call, const Doc& index, const MethodExpr& e) {
  const Doc plan = text(call);
  if (e.method == "dtype") return plan + Doc::list(".dtype[", {index}, "]");
  const Doc sizes = plan + ".meta[" + index + "].sizes";
  if (e.method == "dim") return called("contract::len", {sizes});
  return e.method == "size" ? called("lists::at", concatenated({sizes}, texts(e.arguments))) : sizes;
}

Cpp MetadataExpr::visit(const MethodExpr& e, const Expr&) {
  const Expr& object = *e.object;
  if (note(object).role == ExprRole::Operator) return {planned(object, "0", e)};
  if (const auto* picked = as<IndexExpr>(object); picked && note(*picked->object).role == ExprRole::Operator)
    return {planned(*picked->object, text(*picked->index), e)};
  const ExprType& of = type(object);
  if (of.depth == 0 && e.arguments.size() == 1 && type(*e.arguments[0].value).depth > 0) {
    Doc size = called("contract::size", {text(object), cpp_string(to_text(object)), "x_"});
    return {called("lists::map", concatenated({lambda("std::int64_t x_", std::move(size))}, texts(e.arguments)))};
  }
  if (of.depth > 0)
    return {called(of.optional_items ? "lists::each_defined" : "lists::each",
                   {text(object), lambda("const TensorBase& x_", method_of("x_", e))})};
  if (of.optional)
    return {called("contract::if_defined",
                   {text(object), lambda("const TensorBase& x_", called("x_." + e.method, texts(e.arguments)))})};
  return {method_of(text(object, of.base == ExprBase::DType ? Binding::Choice : Binding::Postfix), e)};
}

Cpp MetadataExpr::visit(const IndexExpr& e, const Expr&) {
  return {called("lists::at", {text(*e.object), text(*e.index)})};
}

Cpp MetadataExpr::visit(const SliceExpr& e, const Expr&) {
  std::vector<Doc> arguments{text(*e.object), e.begin ? text(*e.begin) : "0"};
  if (e.end) arguments.push_back(text(*e.end));
  return {called("lists::slice", std::move(arguments))};
}

}  // namespace keyway::inline v1
