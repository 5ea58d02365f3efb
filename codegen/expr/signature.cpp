#include <keyway/codegen/base/names.h>
#include <keyway/codegen/expr/signature.h>

#include <algorithm>
#include <fmt/format.h>
#include <optional>

namespace keyway::inline v1 {
namespace {

ExprBase base_of(TypeKind kind) {
  switch (kind) {
    case TypeKind::Tensor: return ExprBase::Tensor;
    case TypeKind::Scalar:
    case TypeKind::Complex: return ExprBase::Scalar;
    case TypeKind::Int:
    case TypeKind::SymInt: return ExprBase::Int;
    case TypeKind::Float:
    case TypeKind::SymFloat: return ExprBase::Float;
    case TypeKind::Bool:
    case TypeKind::SymBool: return ExprBase::Bool;
    case TypeKind::Str: return ExprBase::Str;
    case TypeKind::ScalarType: return ExprBase::DType;
    case TypeKind::Layout: return ExprBase::Layout;
    case TypeKind::MemoryFormat: return ExprBase::MemoryFormat;
    case TypeKind::Device: return ExprBase::Device;
    case TypeKind::Generator: return ExprBase::Generator;
    case TypeKind::None: return ExprBase::None;
    default: return ExprBase::Other;
  }
}

bool base_fits(const ExprType& given, const ExprType& wanted, ExprContext context) {
  if (given.base == wanted.base || given.base == ExprBase::Unknown || wanted.base == ExprBase::Unknown) return true;
  switch (wanted.base) {
    case ExprBase::Float: return given.base == ExprBase::Int;
    case ExprBase::Scalar: return given.is_number() || given.base == ExprBase::Bool;
    case ExprBase::DTypeSet: return given.base == ExprBase::DType;
    case ExprBase::Tensor: return context == ExprContext::Derivative && given.is_number();
    default: return false;
  }
}

// By how many levels a value has to be lifted to fit a parameter: 0 if it fits as it is, nothing if it does
// not.
std::optional<int> lift_of(const ExprType& given, const Parameter& parameter, ExprContext context, Lifting lifting) {
  const ExprType& wanted = parameter.type;
  if (given.is(ExprBase::Unknown)) return 0;
  if (given.is(ExprBase::None)) return wanted.optional ? std::optional(0) : std::nullopt;
  if (given.optional && !wanted.optional) return std::nullopt;
  if (!base_fits(given, wanted, context)) return std::nullopt;
  if (given.depth == 0 && wanted.depth == 1 && parameter.expands) return 0;
  const int lift = given.depth - wanted.depth;
  if (lift < 0 || (lift > 0 && lifting == Lifting::None)) return std::nullopt;
  if (lift == 0 && given.optional_items && !wanted.optional_items) return std::nullopt;
  return lift;
}

std::string why_not(const ExprType& given, const Parameter& parameter) {
  if (given.optional && !parameter.type.optional)
    return fmt::format("argument {} may be None here; test it first", in_quotes(parameter.name));
  return fmt::format("argument {} is {}, but gets {}", in_quotes(parameter.name), to_string(parameter.type),
                     to_string(given));
}

}  // namespace

ExprType expr_type_of(SchemaType type) {
  if (type.is(TypeKind::List)) return expr_type_of(type.element()).list();
  if (type.is(TypeKind::Optional)) return expr_type_of(type.element()).maybe();
  ExprType out;
  if (type.is(TypeKind::Tuple)) {
    out.base = ExprBase::Tuple;
    for (const SchemaType part : type.parts()) out.parts.push_back(expr_type_of(part));
  } else {
    out.base = base_of(type.kind());
  }
  return out;
}

Signature signature_of(FunctionSchema schema) {
  Signature signature{std::string(schema.name()), std::string(schema.full_name()), {}, {}, schema, true, false};
  for (const Argument argument : schema.arguments()) {
    const SchemaType type = argument.type();
    const SchemaType list = type.is(TypeKind::Optional) ? type.element() : type;
    signature.parameters.push_back({std::string(argument.name()), expr_type_of(type), !argument.has_default(),
                                    argument.is_kwarg_only(), list.list_size() > 0});
  }
  if (schema.returns().size() == 1) {
    signature.result = expr_type_of(schema.returns()[0].type());
  } else {
    signature.result.base = schema.returns().empty() ? ExprBase::None : ExprBase::Tuple;
    for (const Argument result : schema.returns()) signature.result.parts.push_back(expr_type_of(result.type()));
  }
  return signature;
}

std::variant<std::size_t, Mismatch> parameter_of(const Signature& signature, const ArgumentType& argument, int index) {
  const auto& parameters = signature.parameters;
  if (argument.keyword.empty()) {
    const auto position = static_cast<std::size_t>(index);
    if (position < parameters.size() && !parameters[position].keyword_only) return position;
    const auto count = std::ranges::count_if(parameters, [](const Parameter& p) { return !p.keyword_only; });
    return Mismatch{fmt::format("takes {} positional argument{}", count, count == 1 ? "" : "s"), index};
  }
  const auto found = std::ranges::find(parameters, argument.keyword, &Parameter::name);
  if (found != parameters.end()) return static_cast<std::size_t>(found - parameters.begin());
  return Mismatch{fmt::format("has no argument {}{}", in_quotes(argument.keyword),
                              did_you_mean(argument.keyword, parameters, &Parameter::name)),
                  index};
}

std::variant<Bound, Mismatch> bind_call(const Signature& signature, const std::vector<ArgumentType>& arguments,
                                        ExprContext context, Lifting lifting) {
  Bound bound;
  std::vector<bool> given(signature.parameters.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const int index = static_cast<int>(i);
    const auto target = parameter_of(signature, arguments[i], index);
    if (const auto* mismatch = std::get_if<Mismatch>(&target)) return *mismatch;
    const std::size_t position = std::get<std::size_t>(target);
    const Parameter& parameter = signature.parameters[position];
    if (given[position]) return Mismatch{fmt::format("argument {} is given twice", in_quotes(parameter.name)), index};
    given[position] = true;
    const auto lift = lift_of(arguments[i].type, parameter, context, lifting);
    if (!lift) return Mismatch{why_not(arguments[i].type, parameter), index};
    bound.lift = std::max(bound.lift, *lift);
    if (parameter.type.base == ExprBase::Tensor && arguments[i].type.is_number()) ++bound.numbers_as_tensors;
  }
  for (std::size_t i = 0; i < given.size(); ++i)
    if (!given[i] && signature.parameters[i].required)
      return Mismatch{fmt::format("argument {} is missing", in_quotes(signature.parameters[i].name)), -1};
  return bound;
}

}  // namespace keyway::inline v1
