#include <keyway/codegen/base/names.h>
#include <keyway/codegen/emit/cpp_contract.h>
#include <keyway/codegen/emit/cpp_formula.h>
#include <keyway/codegen/emit/cpp_metadata.h>
#include <keyway/codegen/expr/signature.h>

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace keyway::inline v1 {
namespace {

// What a person needs to see to understand why a contract does not hold: the greatest sub-expressions that
// are neither constants nor tests, where their evaluation is part of finding out that it does not.
class Evidence {
 public:
  Evidence(const CheckedExpr& expr, FunctionSchema schema, MetadataExpr& cpp)
      : expr_(expr), schema_(schema), cpp_(cpp) {}

  // Requires: `expr` is false, or its value is what matters.
  void collect(const Expr& expr) {
    if (const auto* e = as<BinaryExpr>(expr); e && (e->op == BinaryOp::And || e->op == BinaryOp::Or)) {
      collect(*e->left);
      if (e->op == BinaryOp::Or) collect(*e->right);  // of && it may be the left that fails
    } else if (const auto* unary = as<UnaryExpr>(expr); unary && unary->op == UnaryOp::Not) {
      collect_sole(*unary->operand);
    } else if (const auto* chain = as<CompareExpr>(expr)) {
      const bool none = std::ranges::any_of(chain->operands, [](const ExprPtr& value) { return as<NoneExpr>(*value); });
      if (!none)
        for (const ExprPtr& value : chain->operands) value_of(*value);
    } else if (const auto* in = as<InExpr>(expr)) {
      value_of(*in->value);
      for (const ExprPtr& choice : in->choices) value_of(*choice);
    } else if (const auto* choice = as<ChoiceExpr>(expr)) {
      collect(*choice->condition);
      collect_total(*choice->yes);
      collect_total(*choice->no);
    } else {
      collect_leaf(expr);
    }
  }

  // The first predicate of a failing contract that says why, or null.
  const Expr* reason() const { return reason_; }
  const std::vector<Doc>& values() const { return values_; }

 private:
  // Of a branch that may not have been taken: arguments that cannot be None, and what the tensors among them are asked
  // without saying more.
  void collect_total(const Expr& expr) {
    const auto* method = as<MethodExpr>(expr);
    if (method && method->arguments.empty() && is_there(*method->object))
      expr_.note(expr).type.is(ExprBase::Bool) ? collect_leaf(expr) : value_of(expr);
    else if (is_there(expr))
      value_of(expr);
    else
      for (const ExprPtr& child : children(expr)) collect_total(*child);
  }

  bool is_there(const Expr& expr) const {
    const auto* name = as<NameExpr>(expr);
    const auto index = name ? schema_.arguments().find(name->name) : std::nullopt;
    return index && !expr_type_of(schema_.arguments()[*index].type()).optional;
  }

  // What stands below a `!` is true: of its parts only the first has been evaluated for certain.
  void collect_sole(const Expr& expr) {
    if (const auto* e = as<BinaryExpr>(expr); e && (e->op == BinaryOp::And || e->op == BinaryOp::Or))
      collect_sole(*e->left);
    else if (const auto* call = as<CallExpr>(expr))
      for (const CallArgument& argument : call->arguments) value_of(*argument.value);
    else
      collect(expr);
  }

  void collect_leaf(const Expr& expr) {
    if (const auto* call = as<CallExpr>(expr)) {
      if (call->function == "all" || call->function == "any") return collect(*call->arguments.front().value);
      if (says_why(call->function) && !expr_.note(expr).elementwise) {
        if (reason_ == nullptr) reason_ = &expr;
        return;
      }
      for (const CallArgument& argument : call->arguments) value_of(*argument.value);
    } else if (const auto* method = as<MethodExpr>(expr)) {
      const bool about_dtype = method->method == "is_floating_point" || method->method == "is_complex";
      const bool tensor = expr_.note(*method->object).type.is(ExprBase::Tensor);
      if (about_dtype && tensor)
        add(to_text(*method->object) + ".dtype()", cpp_.text(*method->object, Binding::Postfix) + ".dtype()");
      else if (method->method == "is_contiguous" && tensor)
        add(to_text(*method->object) + ".strides()", cpp_.text(*method->object, Binding::Postfix) + ".strides()");
      else
        value_of(*method->object);
    } else {
      value_of(expr);
    }
  }

  void value_of(const Expr& expr) {
    const ExprType& type = expr_.note(expr).type;
    if (is_constant(expr_, expr) || type.optional || type.base == ExprBase::Tuple || type.depth > 1) return;
    if (type.base == ExprBase::Tensor || type.base == ExprBase::DTypeSet || type.base == ExprBase::Other) return;
    if (const auto* choice = as<ChoiceExpr>(expr)) collect(*choice->condition);
    const bool ints = type.base == ExprBase::Int && type.depth == 1;
    add(to_text(expr), ints ? Doc::list("IntArrayRef(", {cpp_.text(expr)}, ")") : cpp_.text(expr));
  }

  void add(std::string text, Doc cpp) {
    if (contains(seen_, text)) return;
    values_.push_back(Doc::list("{", {Doc::literal(text), std::move(cpp)}, "}"));
    seen_.push_back(std::move(text));
  }

  const CheckedExpr& expr_;
  FunctionSchema schema_;
  MetadataExpr& cpp_;
  const Expr* reason_ = nullptr;
  std::vector<Doc> values_;
  std::vector<std::string> seen_;
};

// Whether an expression asks nothing but what dtypes are.
bool asks_dtypes_alone(const CheckedExpr& checked, const Expr& expr) {
  if (const auto* method = as<MethodExpr>(expr))
    return method->method == "dtype" || method->method == "is_floating_point" || method->method == "is_complex";
  if (const auto* call = as<CallExpr>(expr); call && call->function != "all" && call->function != "any") return false;
  if (as<NameExpr>(expr) != nullptr) return checked.note(expr).type.base == ExprBase::DType;
  const std::vector<ExprPtr> parts = children(expr);
  return !parts.empty() && std::ranges::all_of(parts, [&](const ExprPtr& part) {
    return as<NoneExpr>(*part) != nullptr || asks_dtypes_alone(checked, *part);
  });
}

std::string type_of(const ExprType& type) {
  constexpr ExprBase kPlain[] = {ExprBase::Int, ExprBase::Bool, ExprBase::Float, ExprBase::DType};
  const bool ints = type.depth == 1 && type.base == ExprBase::Int;
  const bool plain = type.depth == 0 && contains(kPlain, type.base);
  return (ints || plain) && !type.optional ? kept_type(type) : "auto";
}

// The top-level parts of a contract: `x.dim() == 2` tells that x has dimensions 0 and 1.
void learn_ranks(const Expr& expr, KnownRanks& ranks) {
  if (const auto* both = as<BinaryExpr>(expr); both && both->op == BinaryOp::And) {
    learn_ranks(*both->left, ranks);
    learn_ranks(*both->right, ranks);
  }
  const auto* compare = as<CompareExpr>(expr);
  if (!compare || compare->ops.size() != 1) return;
  const auto* method = as<MethodExpr>(*compare->operands[0]);
  const auto* object = method ? as<NameExpr>(*method->object) : nullptr;
  const auto* number = as<IntExpr>(*compare->operands[1]);
  if (!object || !number || method->method != "dim") return;
  const CompareOp op = compare->ops.front();
  if (op == CompareOp::Equal || op == CompareOp::GreaterEqual) ranks[object->name] = number->value;
  if (op == CompareOp::Greater) ranks[object->name] = number->value + 1;
}

class Statements {
 public:
  Statements(const Formula& contract, FunctionSchema schema, const KnownRanks& ranks, std::size_t indent)
      : expr_(contract.expr),
        about_index_(contract.about_index),
        schema_(schema),
        cpp_(expr_, schema),
        indent_(indent) {
    cpp_.know(ranks);
  }

  std::string of_item() {
    const Expr& root = expr_.root();
    const auto* let = as<LetExpr>(root);
    if (!let) return of_contract(root);
    cpp_.say(Doc::literal(to_text(root)));
    const std::string type = type_of(expr_.note(*let->value).type);
    return (Doc::assignment(fmt::format("const {} {}", type, let->name), cpp_.text(*let->value)) + ";").lines(indent_);
  }

 private:
  // The parts of `a && b` are checked one by one, so that the text is about the one that fails.
  std::string of_contract(const Expr& expr) const {
    if (const auto* both = as<BinaryExpr>(expr); both && both->op == BinaryOp::And)
      return of_contract(*both->left) + of_contract(*both->right);
    MetadataExpr cpp = cpp_;
    const Doc head = Doc::conditional(cpp.negated(expr).doc, ") [[unlikely]] {");
    Evidence evidence(expr_, schema_, cpp);
    evidence.collect(expr);
    const Doc text = Doc::literal(to_text(expr));
    if (!cpp.uses_text())
      return head.lines(indent_) + failure(expr, evidence, cpp, text, indent_ + 2) + Doc("}").lines(indent_);
    const std::size_t in = indent_ + 2;
    return Doc("{").lines(indent_) + (Doc::assignment("constexpr std::string_view text_", text) + ";").lines(in) +
           head.lines(in) + failure(expr, evidence, cpp, "text_", in + 2) + Doc("}").lines(in) +
           Doc("}").lines(indent_);
  }

  std::string failure(const Expr& expr, const Evidence& evidence, MetadataExpr& cpp, const Doc& text,
                      std::size_t indent) const {
    const std::string_view kind = kind_of(expr);
    if (evidence.reason() == nullptr) {
      std::vector<Doc> arguments{text, Doc::list("{", evidence.values(), "}")};
      if (!kind.empty()) arguments.emplace_back(kind);
      return Doc::list("fail_contract(", std::move(arguments), ");").lines(indent);
    }
    return Doc(kind.empty() ? "Refusal why_;" : fmt::format("Refusal why_{{{}}};", kind)).lines(indent) +
           (cpp.asking_why(*evidence.reason()) + ";").lines(indent) +
           Doc::list("fail_predicate(", {text, "why_"}, ");").lines(indent);
  }

  // Of the error that says that a part does not hold; empty where it is that of a value.
  std::string_view kind_of(const Expr& expr) const {
    if (about_index_) return "ErrorKind::Index";
    return asks_dtypes_alone(expr_, expr) ? "ErrorKind::Dtype" : "";
  }

  const CheckedExpr& expr_;
  bool about_index_;
  FunctionSchema schema_;
  MetadataExpr cpp_;
  std::size_t indent_;
};

}  // namespace

std::string contract_statements(const Op& op, std::size_t indent) {
  std::string out;
  KnownRanks ranks;
  for (const Formula& formula : op.contracts) {
    out += Statements(formula, *op.schema, ranks, indent).of_item();
    learn_ranks(formula.expr.root(), ranks);
  }
  return out;
}

bool calls_operators(const Op& op) {
  return std::ranges::any_of(op.contracts, [](const Formula& contract) {
    return has_role(contract.expr, contract.expr.root(), ExprRole::Operator);
  });
}

}  // namespace keyway::inline v1
