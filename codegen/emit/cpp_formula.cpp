#include <keyway/codegen/base/names.h>
#include <keyway/codegen/emit/cpp_formula.h>
#include <keyway/codegen/emit/cpp_types.h>
#include <keyway/codegen/expr/expr_printer.h>

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <utility>

namespace keyway::inline v1 {
namespace {

// How tightly C++ binds: an operand that binds less tightly than its place asks for goes in parentheses.
enum class Binding : std::uint8_t { Choice, Or, And, Equality, Relation, Sum, Product, Prefix, Postfix };

struct CppText {
  std::string text;
  Binding binding = Binding::Postfix;
};

// Words of the language whose C++ has another name.
struct Word {
  std::string_view name;
  std::string_view cpp;
};
constexpr Word kWords[] = {
    {"abs", "std::abs"},
    {"default_dtype", "get_default_dtype"},
    {"max", "std::max<std::int64_t>"},
    {"min", "std::min<std::int64_t>"},
    {"product", "product_of"},
    {"promoted", "promote_types"},
    {"sum", "sum_of"},
};

bool is_none(const Expr& expr) { return as<NoneExpr>(expr) != nullptr; }
bool is_tensor(const ExprType& type) { return type.is(ExprBase::Tensor); }

Binding binding_of(BinaryOp op) {
  switch (op) {
    case BinaryOp::Or: return Binding::Or;
    case BinaryOp::And: return Binding::And;
    case BinaryOp::Add:
    case BinaryOp::Subtract: return Binding::Sum;
    default: return Binding::Product;
  }
}

Binding binding_of(CompareOp op) {
  return op == CompareOp::Equal || op == CompareOp::NotEqual ? Binding::Equality : Binding::Relation;
}

Binding tighter(Binding binding) { return static_cast<Binding>(static_cast<int>(binding) + 1); }

// "keyway::", or that of a library's own operator.
std::string namespace_of(const Signature& called) {
  const std::string_view ns = called.schema.namespace_name();
  return fmt::format("{}::", ns.empty() ? "keyway" : ns);
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

class Printer {
 public:
  Printer(const CheckedExpr& formula, const CppNames& names) : formula_(formula), names_(names) {}

  CppText print(const Expr& expr) const {
    if (const auto known = names_.find(to_text(expr)); known != names_.end()) return named(expr, known->second);
    return std::visit([&](const auto& node) { return visit(node, expr); }, expr.node);
  }

  std::string print(const Expr& expr, Binding wanted) const {
    CppText text = print(expr);
    return text.binding < wanted ? fmt::format("({})", text.text) : std::move(text.text);
  }

 private:
  const ExprType& type_of(const Expr& expr) const { return formula_.note(expr).type; }

  CppText named(const Expr& expr, const CppName& name) const {
    const ExprType& type = type_of(expr);
    const bool present = name.optional && !type.optional;
    return present ? CppText{"*" + name.text, Binding::Prefix} : CppText{name.text};
  }

  CppText visit(const NoneExpr&, const Expr&) const { return {"Tensor()"}; }
  CppText visit(const BoolExpr& e, const Expr&) const { return {e.value ? "true" : "false"}; }
  CppText visit(const IntExpr& e, const Expr&) const { return {fmt::to_string(e.value)}; }
  CppText visit(const FloatExpr& e, const Expr&) const { return {e.spelling}; }
  CppText visit(const StringExpr& e, const Expr&) const { return {quoted(e.value)}; }
  CppText visit(const NameExpr& e, const Expr&) const { return {std::string(cpp_constant(e.name))}; }

  CppText visit(const ListExpr& e, const Expr& expr) const {
    const bool tensors = type_of(expr).base == ExprBase::Tensor;
    return {fmt::format("{}{}", tensors ? "variable_list" : "DimVector", braced(e))};
  }

  CppText visit(const TupleExpr& e, const Expr&) const {
    std::vector<std::string> items;
    for (const ExprPtr& item : e.items) {
      const bool tensor = is_none(*item) || is_tensor(type_of(*item));
      const std::string text = print(*item, Binding::Choice);
      items.push_back(tensor && !is_none(*item) ? fmt::format("Tensor({})", text) : text);
    }
    return {fmt::format("std::tuple({})", joined(items))};
  }

  CppText visit(const UnaryExpr& e, const Expr&) const {
    return {std::string(to_string(e.op)) + print(*e.operand, Binding::Postfix), Binding::Prefix};
  }

  CppText visit(const BinaryExpr& e, const Expr& expr) const {
    const bool tensor = is_tensor(type_of(expr));
    if (tensor && e.op == BinaryOp::Remainder)
      return {
          fmt::format("keyway::remainder({}, {})", print(*e.left, Binding::Choice), print(*e.right, Binding::Choice))};
    const Binding binding = binding_of(e.op);
    std::string left = print(*e.left, binding);
    const std::string right = print(*e.right, tighter(binding));
    const bool integers = type_of(*e.left).is(ExprBase::Int) && type_of(*e.right).is(ExprBase::Int);
    if (e.op == BinaryOp::Divide && integers)  // true division
      left =
          as<IntExpr>(*e.left) ? left + ".0" : fmt::format("static_cast<double>({})", print(*e.left, Binding::Choice));
    return {fmt::format("{} {} {}", left, to_string(e.op), right), binding};
  }

  // `weight == None`, or nothing if it compares values.
  std::optional<CppText> comparison_with_none(const CompareExpr& e) const {
    if (e.ops.size() != 1) return std::nullopt;
    const bool left_none = is_none(*e.operands[0]);
    if (!left_none && !is_none(*e.operands[1])) return std::nullopt;
    const Expr& value = *e.operands[left_none ? 1 : 0];
    const auto known = names_.find(to_text(value));  // without the `*` that a tested optional gets
    const std::string text = known != names_.end() ? known->second.text : print(value, Binding::Postfix);
    const bool negated = e.ops[0] == CompareOp::Equal;
    const char* test = type_of(value).base == ExprBase::Tensor ? "defined" : "has_value";
    return CppText{fmt::format("{}{}.{}()", negated ? "!" : "", text, test),
                   negated ? Binding::Prefix : Binding::Postfix};
  }

  CppText link(CompareOp op, const Expr& left, const Expr& right) const {
    const Binding binding = binding_of(op);
    const bool lists = type_of(left).depth == 1 && type_of(right).depth == 1;
    const auto side = [&](const Expr& expr) {
      return lists ? fmt::format("IntArrayRef({})", print(expr, Binding::Choice)) : print(expr, tighter(binding));
    };
    return {fmt::format("{} {} {}", side(left), to_string(op), side(right)), binding};
  }

  CppText visit(const CompareExpr& e, const Expr& expr) const {
    if (auto text = comparison_with_none(e)) return std::move(*text);
    CppText out = link(e.ops[0], *e.operands[0], *e.operands[1]);
    for (std::size_t i = 1; i < e.ops.size(); ++i) {
      const CppText next = link(e.ops[i], *e.operands[i], *e.operands[i + 1]);
      out = is_tensor(type_of(expr)) ? CppText{fmt::format("keyway::logical_and({}, {})", out.text, next.text)}
                                     : CppText{fmt::format("{} && {}", out.text, next.text), Binding::And};
    }
    return out;
  }

  CppText visit(const InExpr& e, const Expr&) const {
    std::vector<std::string> tests;
    for (const ExprPtr& choice : e.choices) tests.push_back(link(CompareOp::Equal, *e.value, *choice).text);
    return {fmt::format("{}", fmt::join(tests, " || ")), tests.size() > 1 ? Binding::Or : Binding::Equality};
  }

  CppText visit(const ChoiceExpr& e, const Expr& expr) const {
    const ExprType& type = type_of(expr);
    const auto branch = [&](const Expr& value) {
      if (is_none(value) && !is_tensor(type.required())) return std::string("std::nullopt");
      const std::string text = print(value, Binding::Choice);
      const bool ints = type.depth == 1 && type.base == ExprBase::Int;
      return ints && !as<ListExpr>(value) ? fmt::format("DimVector({})", text) : text;
    };
    return {fmt::format("{} ? {} : {}", print(*e.condition, Binding::Or), branch(*e.yes), branch(*e.no)),
            Binding::Choice};
  }

  CppText visit(const IndexExpr& e, const Expr&) const {
    const auto* number = as<IntExpr>(*e.index);
    if (type_of(*e.object).is(ExprBase::Tuple))
      return {fmt::format("std::get<{}>({})", number ? number->value : 0, print(*e.object, Binding::Choice))};
    if (number) return {fmt::format("{}[{}]", print(*e.object, Binding::Postfix), number->value)};
    return {fmt::format("item({}, {})", print(*e.object, Binding::Choice), print(*e.index, Binding::Choice))};
  }

  CppText visit(const SliceExpr& e, const Expr&) const {
    const auto bound = [&](const ExprPtr& value) {
      return value ? print(*value, Binding::Choice) : std::string("std::nullopt");
    };
    return {fmt::format("items({}, {}, {})", print(*e.object, Binding::Choice), bound(e.begin), bound(e.end))};
  }

  CppText visit(const LetExpr& e, const Expr&) const { return print(*e.value); }

  // --- Calls

  std::string braced(const ListExpr& list) const {
    std::vector<std::string> items;
    for (const ExprPtr& item : list.items) items.push_back(print(*item, Binding::Choice));
    return fmt::format("{{{}}}", joined(items));
  }

  // A value as an argument; `wanted` is what the parameter takes, null if nobody knows. Helpers take an undefined
  // Tensor for an absent one.
  std::string passed(const Expr& value, const Parameter* wanted, bool helper) const {
    if (is_none(value)) return wanted && !helper ? "std::nullopt" : "{}";
    if (const auto* list = as<ListExpr>(value)) return braced(*list);
    const ExprType& type = type_of(value);
    const std::string text = print(value, Binding::Choice);
    if (!wanted) return text;
    if (type.is_number() && wanted->type.is(ExprBase::Tensor)) return fmt::format("number_tensor({})", text);
    if (type.depth == 0 && wanted->type.depth == 1 && !type.is(ExprBase::Unknown)) return fmt::format("{{{}}}", text);
    if (wanted->type.base == ExprBase::Tensor && wanted->type.optional_items && type.depth == 1)
      return fmt::format("optional_tensors({})", text);
    return text;
  }

  // The arguments of a call in the order of its parameters from `first` on, with the defaults of those before the last
  // that is given.
  std::vector<std::string> bound(const Signature& signature, const std::vector<CallArgument>& arguments,
                                 std::size_t first, bool helper) const {
    const FunctionSchema& schema = signature.schema;
    std::vector<const Expr*> given(signature.parameters.size());
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const ArgumentType named{arguments[i].keyword, {}};
      const auto at = parameter_of(signature, named, static_cast<int>(i + first));
      if (const auto* position = std::get_if<std::size_t>(&at)) given[*position] = arguments[i].value.get();
    }
    const bool options = has_tensor_options(schema);
    std::vector<std::string> out;
    std::size_t needed = 0;
    for (std::size_t i = first; i < given.size(); ++i) {
      const Parameter& parameter = signature.parameters[i];
      if (options && is_tensor_option(parameter.name)) {
        if (parameter.name != "dtype") continue;
        out.push_back(tensor_options(signature, given));
        if (out.back() != "{}") needed = out.size();
        continue;
      }
      const Expr* value = given[i];
      if (!value && parameter.required) continue;
      out.push_back(value ? passed(*value, &parameter, helper) : public_default(schema.arguments()[i]));
      if (value) needed = out.size();
    }
    out.resize(needed);
    return out;
  }

  // TensorOptions().dtype(...).device(...) of what is given of the four.
  std::string tensor_options(const Signature& signature, const std::vector<const Expr*>& given) const {
    std::string out;
    for (std::size_t i = 0; i < given.size(); ++i) {
      const Parameter& parameter = signature.parameters[i];
      if (!given[i] || !is_tensor_option(parameter.name) || is_none(*given[i])) continue;
      const std::string setter = parameter.name == "pin_memory" ? "pinned_memory" : parameter.name;
      out += fmt::format(".{}({})", setter, print(*given[i], Binding::Choice));
    }
    return out.empty() ? "{}" : "TensorOptions()" + out;
  }

  std::vector<std::string> passed(const std::vector<CallArgument>& arguments) const {
    std::vector<std::string> out;
    for (const CallArgument& argument : arguments) out.push_back(passed(*argument.value, nullptr, true));
    return out;
  }

  // `object.name(arguments)`; the first argument may be the object again.
  CppText method_call(const Expr& object, std::string_view name, std::vector<std::string> arguments,
                      bool with_object) const {
    if (with_object) arguments.erase(arguments.begin());
    return {fmt::format("{}.{}({})", print(object, Binding::Postfix), name, joined(arguments))};
  }

  CppText visit(const CallExpr& e, const Expr& expr) const {
    const ExprNote& note = formula_.note(expr);
    const bool helper = note.role == ExprRole::Helper;
    if (note.called && !helper && !note.called->is_function && note.called->is_method && !e.arguments.empty())
      return method_call(*e.arguments.front().value, e.function, bound(*note.called, e.arguments, 0, false), true);
    if (note.called)
      return {fmt::format("{}{}({})", helper ? "" : namespace_of(*note.called), e.function,
                          joined(bound(*note.called, e.arguments, 0, helper)))};
    std::string_view name = e.function;
    if (note.role == ExprRole::Predicate) {
      const auto* word = std::ranges::find(kWords, e.function, &Word::name);
      if (word != std::end(kWords)) name = word->cpp;
    }
    return {fmt::format("{}({})", name, joined(passed(e.arguments)))};
  }

  CppText visit(const MethodExpr& e, const Expr& expr) const {
    const ExprNote& note = formula_.note(expr);
    const ExprType& object = type_of(*e.object);
    if (note.called) return method_call(*e.object, e.method, bound(*note.called, e.arguments, 1, false), false);
    const std::string arguments = joined(passed(e.arguments));
    if (object.base == ExprBase::DType)  // a function of the dtype
      return {fmt::format("keyway::{}({})", e.method, print(*e.object, Binding::Choice))};
    if (object.depth > 0 || (object.optional && object.base == ExprBase::Tensor))
      return {fmt::format("each({}, [{}](const auto& tensor) {{ return tensor.{}({}); }})",
                          print(*e.object, Binding::Choice), arguments.empty() ? "" : "&", e.method, arguments)};
    return {fmt::format("{}.{}({})", print(*e.object, Binding::Postfix), e.method, arguments)};
  }

  const CheckedExpr& formula_;
  const CppNames& names_;
};

}  // namespace

std::string cpp_formula(const CheckedExpr& formula, const CppNames& names) {
  return cpp_formula(formula, formula.root(), names);
}

std::string cpp_formula(const CheckedExpr& formula, const Expr& part, const CppNames& names) {
  return Printer(formula, names).print(part).text;
}

}  // namespace keyway::inline v1
