#include <keyway/codegen/base/names.h>
#include <keyway/codegen/expr/expr_checker.h>
#include <keyway/codegen/expr/expr_error.h>
#include <keyway/codegen/expr/operator_rules.h>
#include <keyway/codegen/expr/vocabulary.h>

#include <optional>
#include <span>
#include <utility>

namespace keyway::inline v1 {
namespace {

void append(std::vector<std::string>& out, std::vector<std::string> more) {
  out.insert(out.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

std::string types_of(const std::vector<ArgumentType>& arguments) {
  return joined(texts_of(arguments, [](const ArgumentType& argument) { return to_string(argument.type); }));
}

// The overload that takes the arguments, or an error that says why none does.
struct Choice {
  const Signature* signature;
  int lift;
};

class Checker {
 public:
  Checker(ExprContext context, const Scope& scope, const FunctionTable& functions, std::vector<std::string> not_none)
      : context_(context),
        lifting_(context == ExprContext::Derivative ? Lifting::None : Lifting::Elementwise),
        scope_(scope),
        functions_(functions),
        constants_(constants(context)),
        not_none_(std::move(not_none)) {}

  ExprType check(const Expr& expr) {
    ExprNote note = std::visit([&](const auto& node) { return visit(node, expr); }, expr.node);
    return notes_.emplace(&expr, std::move(note)).first->second.type;
  }

  std::unordered_map<const Expr*, ExprNote> take() { return std::move(notes_); }

 private:
  static ExprNote plain(ExprType type) { return {std::move(type), ExprRole::Plain, {}, false, {}}; }
  static ExprNote plain(ExprBase base) { return plain(of_base(base)); }

  // Checks an expression that is evaluated only where these names are not None.
  ExprType check_knowing(const Expr& expr, std::vector<std::string> names) {
    const std::size_t before = not_none_.size();
    append(not_none_, std::move(names));
    ExprType type = check(expr);
    not_none_.resize(before);
    return type;
  }

  ExprNote visit(const NoneExpr&, const Expr&) { return plain(ExprBase::None); }
  ExprNote visit(const BoolExpr&, const Expr&) { return plain(ExprBase::Bool); }
  ExprNote visit(const IntExpr&, const Expr&) { return plain(ExprBase::Int); }
  ExprNote visit(const FloatExpr&, const Expr&) { return plain(ExprBase::Float); }
  ExprNote visit(const StringExpr&, const Expr&) { return plain(ExprBase::Str); }

  ExprNote visit(const NameExpr& e, const Expr& expr) {
    const Symbol* symbol = scope_.find(e.name);
    if (!symbol) symbol = constants_.find(e.name);
    if (!symbol) {
      auto names = scope_.names();
      append(names, constants_.names());
      throw ExprError(expr.offset, "no name {} here{}", in_quotes(e.name), did_you_mean(e.name, names));
    }
    const bool present = contains(not_none_, e.name);
    return {present ? symbol->type.required() : symbol->type, symbol->role, {}, false, {}};
  }

  ExprNote visit(const ListExpr& e, const Expr&) {
    std::optional<ExprType> item;
    for (const ExprPtr& value : e.items) {
      const ExprType type = check(*value);
      const auto common = item ? common_type(*item, type) : type;
      if (!common) throw ExprError(value->offset, "a list holds one type, but here are {} and {}", *item, type);
      item = common;
    }
    return plain(item.value_or(ExprType()).list());
  }

  ExprNote visit(const TupleExpr& e, const Expr&) {
    ExprType tuple = of_base(ExprBase::Tuple);
    for (const ExprPtr& item : e.items) tuple.parts.push_back(check(*item));
    return plain(std::move(tuple));
  }

  ExprNote visit(const UnaryExpr& e, const Expr& expr) {
    return plain(unary_type(e.op, check(*e.operand), context_, expr.offset));
  }

  ExprNote visit(const BinaryExpr& e, const Expr& expr) {
    const ExprType left = check(*e.left);
    const bool tests = e.op == BinaryOp::And || e.op == BinaryOp::Or;
    const ExprType right =
        tests ? check_knowing(*e.right, not_none_if(*e.left, e.op == BinaryOp::And)) : check(*e.right);
    return plain(binary_type(e.op, left, right, context_, expr.offset));
  }

  ExprNote visit(const CompareExpr& e, const Expr& expr) {
    ExprType left = check(*e.operands.front());
    ExprType whole = of_base(ExprBase::Bool);
    for (std::size_t i = 0; i < e.ops.size(); ++i) {
      const ExprType right = check(*e.operands[i + 1]);
      const ExprType link = compare_type(e.ops[i], left, right, context_, expr.offset);
      if (link.depth > whole.depth || link.base == ExprBase::Tensor) whole = link;
      left = right;
    }
    return plain(whole);
  }

  ExprNote visit(const InExpr& e, const Expr& expr) {
    const ExprType value = check(*e.value);
    if (value.optional) throw ExprError(expr.offset, "the left of 'in' may be None here; test it first");
    for (const ExprPtr& choice : e.choices) {
      const ExprType type = check(*choice);
      if (type.depth > 0 || type.base == ExprBase::Tensor || !comparable(value, type))
        throw ExprError(choice->offset, "{} cannot be in a set with {}", value, type);
    }
    ExprType type = of_base(ExprBase::Bool);
    type.depth = value.depth;
    type.optional_items = value.optional_items;
    return plain(type);
  }

  ExprNote visit(const ChoiceExpr& e, const Expr& expr) {
    const ExprType condition = check(*e.condition);
    if (!condition.is(ExprBase::Bool) && !condition.is(ExprBase::Unknown))
      throw ExprError(e.condition->offset, "the condition is {}, not a bool", condition);
    if (condition.optional) throw ExprError(e.condition->offset, "the condition may be None here; test it first");
    const ExprType yes = check_knowing(*e.yes, not_none_if(*e.condition, true));
    const ExprType no = check_knowing(*e.no, not_none_if(*e.condition, false));
    const auto type = common_type(yes, no);
    if (!type || type->is(ExprBase::None)) throw ExprError(expr.offset, "the choice is between {} and {}", yes, no);
    for (const ExprPtr& branch : {e.yes, e.no}) require_choosable(*branch, *type);
    return plain(*type);
  }

  // None and [] have no type of their own, which generated code has to give them.
  void require_choosable(const Expr& branch, const ExprType& type) const {
    const bool formula = context_ == ExprContext::Derivative;
    if (as<NoneExpr>(branch) && !formula) throw ExprError(branch.offset, "None can be chosen in formulas only");
    const auto* list = as<ListExpr>(branch);
    const bool has_type = type.base == ExprBase::Int || (formula && type.base == ExprBase::Tensor);
    if (list && list->items.empty() && !has_type)
      throw ExprError(branch.offset, "an empty list is chosen as int[]{}, but the other is {}",
                      formula ? " or Tensor[]" : "", type);
  }

  ExprNote visit(const IndexExpr& e, const Expr& expr) {
    const ExprType object = check(*e.object);
    const ExprType index = check(*e.index);
    if (object.is(ExprBase::Unknown)) return plain(object);
    require_int(index, *e.index);
    if (object.is(ExprBase::Tuple) && !object.optional) return plain(part_of(object, *e.index));
    if (object.depth == 0 || object.optional) throw ExprError(expr.offset, "{} has no items", object);
    return plain(object.item());
  }

  static ExprType part_of(const ExprType& tuple, const Expr& index) {
    const auto* number = as<IntExpr>(index);
    const auto size = static_cast<std::int64_t>(tuple.parts.size());
    if (!number || number->value >= size)
      throw ExprError(index.offset, "a result is picked by a number from 0 to {}", size - 1);
    return tuple.parts[static_cast<std::size_t>(number->value)];
  }

  ExprNote visit(const SliceExpr& e, const Expr& expr) {
    const ExprType object = check(*e.object);
    if (e.begin) require_int(check(*e.begin), *e.begin);
    if (e.end) require_int(check(*e.end), *e.end);
    if (!object.is(ExprBase::Unknown) && (object.depth == 0 || object.optional))
      throw ExprError(expr.offset, "{} has no items", object);
    return plain(object);
  }

  static void require_int(const ExprType& type, const Expr& expr) {
    if ((type.is(ExprBase::Int) && !type.optional) || type.is(ExprBase::Unknown)) return;
    throw ExprError(expr.offset, "an index is an int, not {}", type);
  }

  ExprNote visit(const LetExpr& e, const Expr& expr) {
    if (context_ != ExprContext::Contract) throw ExprError(expr.offset, "'let' stands in 'requires' only");
    if (scope_.find(e.name)) throw ExprError(expr.offset, "the name {} is taken already", in_quotes(e.name));
    return plain(check(*e.value));
  }

  std::vector<ArgumentType> check(const std::vector<CallArgument>& arguments) {
    std::vector<ArgumentType> types;
    for (const CallArgument& argument : arguments) types.push_back({argument.keyword, check(*argument.value)});
    return types;
  }

  ExprNote visit(const CallExpr& e, const Expr& expr) {
    const auto types = check(e.arguments);
    const auto built_in = predicates_named(e.function, context_);
    const auto operators =
        context_ == ExprContext::DType ? std::span<const Signature>() : functions_.operators_named(e.function);
    if (const auto choice = choose(built_in, types, lifting_)) {
      refuse_keywords(e.arguments, "a predicate");
      return lifted(*choice, ExprRole::Predicate, e.function);
    }
    if (const auto choice = choose(operators, types, Lifting::None)) {
      if (context_ == ExprContext::Contract) refuse_unlike_schema(e, *choice->signature, expr.offset);
      return called(*choice->signature);
    }
    const auto helpers =
        context_ == ExprContext::Derivative ? functions_.helpers_named(e.function) : std::span<const Signature>();
    if (const auto choice = choose(helpers, types, Lifting::None)) {
      if (scope_.find(e.function))
        throw ExprError(expr.offset,
                        "{} is a helper, but also an argument or a result of the operator, which hides it in C++",
                        in_quotes(e.function));
      return called(*choice->signature, ExprRole::Helper);
    }
    std::vector<Signature> overloads = built_in;
    overloads.insert(overloads.end(), operators.begin(), operators.end());
    overloads.insert(overloads.end(), helpers.begin(), helpers.end());
    if (overloads.empty()) unknown_function(e.function, expr.offset);
    refuse(e, overloads, built_in.empty() ? Lifting::None : lifting_, types, expr.offset);
  }

  ExprNote visit(const MethodExpr& e, const Expr& expr) {
    const ExprType object = check(*e.object);
    auto types = check(e.arguments);
    if (object.is(ExprBase::Unknown)) return {ExprType(), ExprRole::Method, e.method, false, {}};
    // The method is looked up for one item; the result then has the lists and the optional of the object.
    ExprType item = object.required();
    item.depth = 0;
    item.optional_items = false;
    types.insert(types.begin(), ArgumentType{{}, item});
    const auto methods = methods_named(e.method);
    if (const auto choice = choose(methods, types, lifting_)) {
      refuse_keywords(e.arguments, "a method");
      if (context_ == ExprContext::Contract) refuse_unplanned(e);
      ExprNote note = lifted(*choice, ExprRole::Method, e.method);
      note.elementwise = note.elementwise || object.depth > 0;
      note.type.depth += object.depth;
      note.type.optional = note.type.optional || object.optional;
      note.type.optional_items = note.type.optional_items || object.optional_items;
      return note;
    }
    types.front().type = object;
    const auto operators = functions_.operators_named(e.method);
    if (context_ == ExprContext::Derivative)
      if (const auto choice = choose(operators, types, Lifting::None)) return called(*choice->signature);
    refuse_method(e, expr, object, methods, types);
  }

  // Predicates and methods are printed with their arguments as they stand.
  static void refuse_keywords(const std::vector<CallArgument>& arguments, std::string_view callee) {
    for (const CallArgument& argument : arguments)
      if (!argument.keyword.empty())
        throw ExprError(argument.value->offset, "{} takes its arguments by position", callee);
  }

  // An operator that a contract calls is planned: its plan takes all arguments, as the schema has them.
  static void refuse_unlike_schema(const CallExpr& call, const Signature& function, std::size_t offset) {
    refuse_keywords(call.arguments, "an operator in a contract");
    if (call.arguments.size() < function.parameters.size())
      throw ExprError(offset, "an operator in a contract takes all its arguments: {} has {}",
                      in_quotes(function.full_name), function.parameters.size());
  }

  // What is planned is known by its sizes and dtypes alone.
  void refuse_unplanned(const MethodExpr& e) const {
    const auto* item = as<IndexExpr>(*e.object);
    const Expr& object = item ? *item->object : *e.object;
    const auto note = notes_.find(&object);
    if (note == notes_.end() || note->second.role != ExprRole::Operator) return;
    constexpr std::string_view kPlanned[] = {"dim", "dtype", "size", "sizes"};
    if (!contains(kPlanned, e.method))
      throw ExprError(e.object->offset, "of an operator's result a contract knows dim, dtype, size and sizes, not {}",
                      in_quotes(e.method));
  }

  static ExprNote called(const Signature& function, ExprRole role = ExprRole::Operator) {
    return {function.result, role, function.full_name, false, std::make_shared<const Signature>(function)};
  }

  static ExprNote lifted(const Choice& choice, ExprRole role, const std::string& name) {
    ExprNote note{choice.signature->result, role, name, choice.lift > 0, {}};
    note.type.depth += choice.lift;
    return note;
  }

  // The first overload that takes the arguments, with as few numbers made tensors as any.
  std::optional<Choice> choose(std::span<const Signature> overloads, const std::vector<ArgumentType>& types,
                               Lifting lifting) const {
    std::optional<Choice> best;
    int fewest = 0;
    for (const Signature& signature : overloads) {
      const auto binding = bind_call(signature, types, context_, lifting);
      const auto* bound = std::get_if<Bound>(&binding);
      if (bound == nullptr || (best && bound->numbers_as_tensors >= fewest)) continue;
      best = Choice{&signature, bound->lift};
      fewest = bound->numbers_as_tensors;
    }
    return best;
  }

  // Requires: none of the overloads takes the arguments.
  [[noreturn]] void refuse(const CallExpr& call, std::span<const Signature> overloads, Lifting lifting,
                           const std::vector<ArgumentType>& types, std::size_t offset) const {
    if (overloads.size() > 1)
      throw ExprError(offset, "no overload of {} takes ({})", in_quotes(call.function), shown(types_of(types)));
    const auto mismatch = std::get<Mismatch>(bind_call(overloads.front(), types, context_, lifting));
    if (mismatch.argument >= 0) offset = call.arguments[static_cast<std::size_t>(mismatch.argument)].value->offset;
    throw ExprError(offset, "{}: {}", shown(call.function), mismatch.reason);
  }

  [[noreturn]] void refuse_method(const MethodExpr& e, const Expr& expr, const ExprType& object,
                                  std::span<const Signature> methods, const std::vector<ArgumentType>& types) const {
    const bool known = !methods.empty() && object.base == ExprBase::Tensor;
    if (known) {
      const std::vector<ArgumentType> given(types.begin() + 1, types.end());
      throw ExprError(expr.offset, "the method {} does not take ({})", in_quotes(e.method), shown(types_of(given)));
    }
    auto names = method_names();
    if (context_ == ExprContext::Derivative) append(names, functions_.operator_names());
    throw ExprError(expr.offset, "{} has no method {}{}", object, in_quotes(e.method), did_you_mean(e.method, names));
  }

  [[noreturn]] void unknown_function(const std::string& name, std::size_t offset) const {
    const bool formula = context_ == ExprContext::Derivative;
    if (formula && !predicates_named(name, ExprContext::Contract).empty())
      throw ExprError(offset, "{} is a predicate of contracts, which formulas have not", in_quotes(name));
    auto names = predicate_names();
    if (context_ != ExprContext::DType) append(names, functions_.operator_names());
    if (formula) append(names, functions_.helper_names());
    const std::string_view what = formula                          ? "operator, predicate or helper"
                                  : context_ == ExprContext::DType ? "predicate"
                                                                   : "operator or predicate";
    throw ExprError(offset, "no {} {}{}", what, in_quotes(name), did_you_mean(name, names));
  }

  ExprContext context_;
  Lifting lifting_;  // of predicates and methods
  const Scope& scope_;
  const FunctionTable& functions_;
  Scope constants_;
  std::vector<std::string> not_none_;
  std::unordered_map<const Expr*, ExprNote> notes_;
};

// The name that `expr` compares with None by `op`, or null.
const NameExpr* compared_with_none(const Expr& expr, CompareOp op) {
  const auto* compare = as<CompareExpr>(expr);
  if (!compare || compare->ops.size() != 1 || compare->ops.front() != op) return nullptr;
  const Expr& left = *compare->operands[0];
  const Expr& right = *compare->operands[1];
  if (as<NoneExpr>(right)) return as<NameExpr>(left);
  if (as<NoneExpr>(left)) return as<NameExpr>(right);
  return nullptr;
}

// Of an operator's result a contract has but the plan, which answers methods. `asked`: whether one is called on the
// node.
void refuse_results(const CheckedExpr& expr, const Expr& node, bool asked) {
  if (expr.note(node).role == ExprRole::Operator && !asked)
    throw ExprError(
        node.offset,
        "a contract asks an operator's result for dim, dtype, size or sizes, and does nothing else with it");
  const auto* method = as<MethodExpr>(node);
  const auto* index = as<IndexExpr>(node);
  for (const ExprPtr& child : children(node))
    refuse_results(expr, *child, (method && child == method->object) || (asked && index && child == index->object));
}

}  // namespace

CheckedExpr check_expr(const ExprPtr& expr, ExprContext context, const Scope& scope, const FunctionTable& functions,
                       const std::vector<std::string>& not_none) {
  Checker checker(context, scope, functions, not_none);
  checker.check(*expr);
  CheckedExpr checked(expr, checker.take());
  if (context == ExprContext::Contract) refuse_results(checked, *expr, false);
  return checked;
}

bool has_role(const CheckedExpr& expr, const Expr& part, ExprRole role) {
  return any_node(part, [&](const Expr& node) { return expr.note(node).role == role; });
}

bool is_constant(const CheckedExpr& expr, const Expr& part) {
  return !any_node(part, [&](const Expr& node) {
    const ExprRole role = expr.note(node).role;
    return role != ExprRole::Plain && role != ExprRole::Constant;
  });
}

std::vector<std::string> not_none_if(const Expr& expr, bool outcome) {
  if (const auto* name = compared_with_none(expr, outcome ? CompareOp::NotEqual : CompareOp::Equal))
    return {name->name};
  if (const auto* unary = as<UnaryExpr>(expr); unary && unary->op == UnaryOp::Not)
    return not_none_if(*unary->operand, !outcome);
  // a && b is true, or a || b is false: both operands are.
  const auto* binary = as<BinaryExpr>(expr);
  if (!binary || binary->op != (outcome ? BinaryOp::And : BinaryOp::Or)) return {};
  auto names = not_none_if(*binary->left, outcome);
  append(names, not_none_if(*binary->right, outcome));
  return names;
}

}  // namespace keyway::inline v1
