#include <keyway/codegen/emit/cpp_expr.h>
#include <keyway/codegen/emit/cpp_formula.h>
#include <keyway/codegen/emit/cpp_types.h>
#include <keyway/codegen/model/variants.h>
#include <keyway/core/base/error.h>

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <utility>

namespace keyway::inline v1 {
namespace {

// Words of the language whose C++ has another name.
constexpr CppWord kWords[] = {
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

class FormulaExpr final : public CppExpr {
 public:
  FormulaExpr(const CheckedExpr& formula, const CppNames& names) : CppExpr(formula), names_(names) {}

 private:
  // What the caller has a name for. Where the formula knows that it is not None, it is what the std::optional holds.
  std::optional<Cpp> known(const Expr& expr) override {
    const auto name = names_.find(to_text(expr));
    if (name == names_.end()) return std::nullopt;
    const bool present = name->second.optional && !type(expr).optional;
    return present ? Cpp{"*" + name->second.text, Binding::Prefix} : Cpp{name->second.text};
  }
  Doc tested(const Expr& value) override {
    const auto name = names_.find(to_text(value));
    return name != names_.end() ? name->second.text : CppExpr::tested(value);
  }

  // --- Values and operators

  Cpp visit(const NoneExpr&, const Expr&) override { return {"Tensor()"}; }
  Cpp visit(const NameExpr& e, const Expr&) override { return {cpp_constant(e.name)}; }

  Cpp arithmetic(const BinaryExpr& e, const Expr& expr) override {
    if (is_tensor(type(expr)) && e.op == BinaryOp::Remainder)
      return {called("keyway::remainder", {text(*e.left), text(*e.right)})};
    const Binding binding = binding_of(e.op);
    Doc left = text(*e.left, binding);
    const bool integers = type(*e.left).is(ExprBase::Int) && type(*e.right).is(ExprBase::Int);
    if (e.op == BinaryOp::Divide && integers)  // true division
      left = as<IntExpr>(*e.left) ? left + ".0" : called("static_cast<double>", {text(*e.left)});
    return infix(std::move(left), to_string(e.op), text(*e.right, tighter(binding)), binding);
  }

  Cpp link(CompareOp op, const Expr& left, const Expr& right) override {
    if (type(left).depth != 1 || type(right).depth != 1) return CppExpr::link(op, left, right);
    return infix(called("IntArrayRef", {text(left)}), to_string(op), called("IntArrayRef", {text(right)}),
                 Binding::Equality);
  }
  Doc both(Doc left, Doc right) override { return called("keyway::logical_and", {std::move(left), std::move(right)}); }

  Cpp visit(const InExpr& e, const Expr&) override {
    Cpp out = compared(CompareOp::Equal, *e.value, *e.choices.front());
    for (std::size_t i = 1; i < e.choices.size(); ++i)
      out = logical(BinaryOp::Or, out, compared(CompareOp::Equal, *e.value, *e.choices[i]));
    return out;
  }

  Doc branch(const Expr& value, const ExprType& of) override {
    if (is_tensor(of.required())) return text(value);
    if (is_none(value)) return "std::nullopt";
    if (const auto* list = as<ListExpr>(value); list && list->items.empty() && of.base == ExprBase::Tensor)
      return "variable_list{}";
    if (of.optional) return type(value).optional ? text(value) : called(kept_type(of), {text(value)});
    const bool ints = of.depth == 1 && of.base == ExprBase::Int;
    return ints && !as<ListExpr>(value) ? called("DimVector", {text(value)}) : text(value);
  }

  Cpp visit(const IndexExpr& e, const Expr&) override {
    const auto* number = as<IntExpr>(*e.index);
    if (type(*e.object).is(ExprBase::Tuple))
      return {called(fmt::format("std::get<{}>", number ? number->value : 0), {text(*e.object)})};
    if (number) return {text(*e.object, Binding::Postfix) + fmt::format("[{}]", number->value)};
    return {called("item", {text(*e.object), text(*e.index)})};
  }

  Cpp visit(const SliceExpr& e, const Expr&) override {
    const auto bound = [&](const ExprPtr& value) { return value ? text(*value) : "std::nullopt"; };
    return {called("items", {text(*e.object), bound(e.begin), bound(e.end)})};
  }

  // --- Calls

  // A value as an argument; `wanted` is what the parameter takes, null if nobody knows. Helpers take an undefined
  // Tensor for an absent one.
  Doc passed(const Expr& value, const Parameter* wanted, bool helper) {
    if (is_none(value)) return wanted && !helper ? "std::nullopt" : "{}";
    if (const auto* list = as<ListExpr>(value)) return Doc::list("{", texts(list->items), "}");
    const ExprType& of = type(value);
    Doc out = text(value);
    if (!wanted) return out;
    if (of.is_number() && wanted->type.is(ExprBase::Tensor)) return called("number_tensor", {std::move(out)});
    if (of.depth == 0 && wanted->type.depth == 1 && !of.is(ExprBase::Unknown))
      return Doc::list("{", {std::move(out)}, "}");
    if (wanted->type.base == ExprBase::Tensor && wanted->type.optional_items && of.depth == 1)
      return called("optional_tensors", {std::move(out)});
    return out;
  }
  std::vector<Doc> passed(const std::vector<CallArgument>& arguments) {
    std::vector<Doc> out;
    for (const CallArgument& argument : arguments) out.push_back(passed(*argument.value, nullptr, true));
    return out;
  }

  // The arguments of a call in the order of its parameters from `first` on, with the defaults of those before the last
  // that is given.
  std::vector<Doc> bound(const Signature& signature, const std::vector<CallArgument>& arguments, std::size_t first,
                         bool helper) {
    const FunctionSchema& schema = signature.schema;
    std::vector<const Expr*> given(signature.parameters.size());
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const ArgumentType named{arguments[i].keyword, {}};
      const auto at = parameter_of(signature, named, static_cast<int>(i + first));
      if (const auto* position = std::get_if<std::size_t>(&at)) given[*position] = arguments[i].value.get();
    }
    const bool described = has_tensor_options(schema);
    std::vector<Doc> out;
    std::size_t needed = 0;
    for (std::size_t i = first; i < given.size(); ++i) {
      const Parameter& parameter = signature.parameters[i];
      if (described && is_tensor_option(parameter.name)) {
        if (parameter.name != "dtype") continue;
        auto options = tensor_options(signature, given);
        out.push_back(options ? std::move(*options) : "{}");
        if (options) needed = out.size();
        continue;
      }
      const Expr* value = given[i];
      if (!value && parameter.required) continue;
      out.push_back(value ? passed(*value, &parameter, helper) : public_default(schema.arguments()[i]));
      if (value) needed = out.size();
    }
    out.erase(out.begin() + static_cast<std::ptrdiff_t>(needed), out.end());
    return out;
  }

  // TensorOptions().dtype(...).device(...) of what is given of the four; nothing if none is.
  std::optional<Doc> tensor_options(const Signature& signature, const std::vector<const Expr*>& given) {
    std::optional<Doc> out;
    for (std::size_t i = 0; i < given.size(); ++i) {
      const Parameter& parameter = signature.parameters[i];
      if (!given[i] || !is_tensor_option(parameter.name) || is_none(*given[i])) continue;
      const std::string setter = parameter.name == "pin_memory" ? "pinned_memory" : parameter.name;
      out = (out ? *out : "TensorOptions()") + called(fmt::format(".{}", setter), {text(*given[i])});
    }
    return out;
  }

  Cpp method(const Expr& object, std::string_view name, std::vector<Doc> arguments) {
    return {text(object, Binding::Postfix) + called(fmt::format(".{}", name), std::move(arguments))};
  }

  Cpp visit(const CallExpr& e, const Expr& expr) override {
    const Signature* const callee = note(expr).called.get();
    const bool helper = note(expr).role == ExprRole::Helper;
    if (callee && !helper && !callee->is_function && callee->is_method && !e.arguments.empty()) {
      std::vector<Doc> arguments = bound(*callee, e.arguments, 0, false);
      arguments.erase(arguments.begin());  // the object
      return method(*e.arguments.front().value, e.function, std::move(arguments));
    }
    if (callee)
      return {called(helper ? e.function : fmt::format("{}::{}", namespace_of(callee->schema), e.function),
                     bound(*callee, e.arguments, 0, helper))};
    const bool predicate = note(expr).role == ExprRole::Predicate;
    return {called(predicate ? cpp_word(kWords, e.function, e.function) : e.function, passed(e.arguments))};
  }

  Cpp visit(const MethodExpr& e, const Expr& expr) override {
    const ExprType& object = type(*e.object);
    if (note(expr).called) return method(*e.object, e.method, bound(*note(expr).called, e.arguments, 1, false));
    if (object.base == ExprBase::DType)  // a function of the dtype
      return {called("keyway::" + e.method, {text(*e.object)})};
    if (object.depth == 0 && (!object.optional || object.base != ExprBase::Tensor))
      return method(*e.object, e.method, passed(e.arguments));
    Doc value = called("tensor_." + e.method, passed(e.arguments));
    Doc lambda = fmt::format("[{}](const auto& tensor_) {{ return ", e.arguments.empty() ? "" : "&") + value + "; }";
    return {called("each", {text(*e.object), std::move(lambda)})};
  }

  const CppNames& names_;
};

}  // namespace

std::string kept_type(const ExprType& type) {
  if (type.optional) return fmt::format("std::optional<{}>", kept_type(type.required()));
  if (type.depth == 1 && type.base == ExprBase::Int) return "DimVector";
  if (type.depth == 1 && type.base == ExprBase::Bool) return "SmallVector<bool, 4>";
  if (type.depth > 0) return fmt::format("std::vector<{}>", kept_type(type.item()));
  switch (type.base) {
    case ExprBase::Bool: return "bool";
    case ExprBase::Int: return "std::int64_t";
    case ExprBase::Str: return "std::string";
    case ExprBase::DType: return "ScalarType";
    case ExprBase::Layout: return "Layout";
    case ExprBase::MemoryFormat: return "MemoryFormat";
    case ExprBase::Device: return "Device";
    case ExprBase::Scalar: return "Scalar";
    case ExprBase::Tensor: return "Tensor";
    case ExprBase::Float: return "double";
    default: KEYWAY_FAIL(Internal, "a node has no way to keep a value of this type");
  }
}

Doc cpp_formula(const CheckedExpr& formula, const Expr& part, const CppNames& names) {
  return FormulaExpr(formula, names).text(part);
}

}  // namespace keyway::inline v1
