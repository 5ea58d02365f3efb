// Examples and samples: calls of the op with literals. A literal takes the type that the schema asks for, so
// literals are checked against it and not by the type checker of formulas.
#include <keyway/codegen/base/names.h>
#include <keyway/codegen/expr/expr_error.h>
#include <keyway/codegen/expr/signature.h>
#include <keyway/codegen/expr/vocabulary.h>
#include <keyway/codegen/model/op_reader.h>

#include <algorithm>
#include <utility>

namespace keyway::inline v1 {
namespace {

// Between a sample's call and a part of the error that it must end with.
constexpr std::string_view kRaises = " raises ";

// Behind signs: -1 is a literal too.
const Expr& unsigned_part(const Expr& expr) {
  const auto* unary = as<UnaryExpr>(expr);
  return unary && unary->op == UnaryOp::Negate ? unsigned_part(*unary->operand) : expr;
}

bool is_constant(const Expr& expr, ExprBase base) {
  const auto* name = as<NameExpr>(expr);
  const Scope scope = constants(ExprContext::Contract);
  const Symbol* symbol = name ? scope.find(name->name) : nullptr;
  return symbol && symbol->type.base == base;
}

bool is_int(const Expr& expr) { return as<IntExpr>(unsigned_part(expr)) || is_constant(expr, ExprBase::Int); }
bool is_number(const Expr& expr) {
  const Expr& number = unsigned_part(expr);
  return is_int(expr) || as<FloatExpr>(number) || is_constant(number, ExprBase::Float);
}

// The sizes of a literal tensor: nested lists with rows of equal length, of numbers or bools. A call makes
// one too.
std::vector<std::size_t> tensor_sizes(const Expr& expr) {
  const auto* list = as<ListExpr>(expr);
  if (!list) {
    if (is_number(expr) || as<BoolExpr>(expr) || as<CallExpr>(expr)) return {};
    throw ExprError(expr.offset, "a tensor is written in numbers, bools and lists of them");
  }
  std::vector<std::size_t> sizes{list->items.size()};
  for (const ExprPtr& item : list->items) {
    auto row = tensor_sizes(*item);
    if (item == list->items.front())
      sizes.insert(sizes.end(), row.begin(), row.end());
    else if (!std::ranges::equal(row, std::vector(sizes.begin() + 1, sizes.end())))
      throw ExprError(item->offset, "this row of the tensor has another shape than the first");
  }
  return sizes;
}

bool is_literal_of(const Expr& expr, ExprBase base) {
  switch (base) {
    case ExprBase::Bool: return as<BoolExpr>(expr);
    case ExprBase::Int: return is_int(expr);
    case ExprBase::Float: return is_number(expr);
    case ExprBase::Scalar: return is_number(expr) || as<BoolExpr>(expr);
    case ExprBase::Str:
    case ExprBase::Device: return as<StringExpr>(expr);
    case ExprBase::DType:
    case ExprBase::Layout:
    case ExprBase::MemoryFormat: return is_constant(expr, base);
    default: return false;  // only None can be written
  }
}

void check_literal(const Expr& expr, const Parameter& parameter) {
  const ExprType& type = parameter.type;
  if (type.optional && as<NoneExpr>(expr)) return;
  const auto* list = as<ListExpr>(expr);
  if (type.depth > 0 && list) {
    for (const ExprPtr& item : list->items) check_literal(*item, {parameter.name, type.item()});
    return;
  }
  if (type.depth == 0 && type.base == ExprBase::Tensor) {
    tensor_sizes(expr);
    return;
  }
  if ((type.depth == 0 || parameter.expands) && is_literal_of(expr, type.base)) return;
  throw ExprError(expr.offset, "argument {} is {}, and this is no literal of it", in_quotes(parameter.name), type);
}

void check_arguments(const CallExpr& call, const Signature& signature, std::size_t offset) {
  std::vector<ArgumentType> types;  // unknown ones: what binds is the number and the names
  for (const CallArgument& argument : call.arguments) types.push_back({argument.keyword, ExprType()});
  const auto binding = bind_call(signature, types, ExprContext::Derivative, Lifting::None);
  if (const auto* mismatch = std::get_if<Mismatch>(&binding)) {
    const bool at_argument = mismatch->argument >= 0;
    const std::size_t index = at_argument ? static_cast<std::size_t>(mismatch->argument) : 0;
    throw ExprError(at_argument ? call.arguments[index].value->offset : offset, "{}: {}", shown(call.function),
                    mismatch->reason);
  }
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    const auto target = parameter_of(signature, types[i], static_cast<int>(i));
    check_literal(*call.arguments[i].value, signature.parameters[std::get<std::size_t>(target)]);
  }
}

// The call in `f(...)`, `f(...).sizes()` or `f(...).strides()`, which has to be one of the op.
void check_call(const Expr& expr, const Signature& signature) {
  if (const auto* method = as<MethodExpr>(expr)) {
    if (method->method != "sizes" && method->method != "strides")
      throw ExprError(expr.offset, "an example asks a result for sizes or strides, not {}", in_quotes(method->method));
    if (as<CallExpr>(*method->object) != nullptr) return check_call(*method->object, signature);
  }
  const auto* call = as<CallExpr>(expr);
  if (!call || call->function != signature.name)
    throw ExprError(expr.offset, "an example is a call of {}", in_quotes(signature.name));
  check_arguments(*call, signature, expr.offset);
}

void check_result(const Expr& value, const ExprType& type) {
  if (type.base == ExprBase::Tensor && type.depth == 0) {
    tensor_sizes(value);
  } else if (type.base == ExprBase::Tensor && !as<ListExpr>(value)) {
    throw ExprError(value.offset, "the result is a list of Tensors");
  }
}

void check_value(const Expr& value, const Signature& signature) {
  if (signature.result.base != ExprBase::Tuple) return check_result(value, signature.result);
  const auto& results = signature.result.parts;
  const auto* tuple = as<TupleExpr>(value);
  if (!tuple || tuple->items.size() != results.size())
    throw ExprError(value.offset, "there are {} results; write a tuple of them", results.size());
  for (std::size_t i = 0; i < results.size(); ++i) check_result(*tuple->items[i], results[i]);
}

// `call == value`, or only a call where a value is not needed. Throws ExprError.
Example parse_example(const LocatedText& text, const Signature& signature, bool needs_value) {
  const ExprPtr expr = parse_expr(text.text);
  const auto* compare = as<CompareExpr>(*expr);
  if (!compare && !needs_value) {
    check_call(*expr, signature);
    return {text, expr, nullptr, {}};
  }
  if (!compare || compare->ops.size() != 1 || compare->ops.front() != CompareOp::Equal)
    throw ExprError(expr->offset, "an example has the form {}", in_quotes(signature.name + "(...) == value"));
  check_call(*compare->operands[0], signature);
  if (as<CallExpr>(*compare->operands[0])) check_value(*compare->operands[1], signature);
  return {text, compare->operands[0], compare->operands[1], {}};
}

std::optional<Example> read(const OpSource& source, const LocatedText& text, bool needs_value) {
  try {
    return parse_example(text, signature_of(*source.schema), needs_value);
  } catch (const ExprError& error) {
    source.report.error(text.at(error.offset()), error.what());
    return std::nullopt;
  }
}

}  // namespace

std::optional<Example> read_example(const OpSource& source) {
  return read(source, source.entry.find("example")->text, true);
}

std::vector<Example> read_samples(const OpSource& source) {
  std::vector<Example> samples;
  const JsonValue* list = source.entry.find("samples");
  if (!list) return samples;
  for (const JsonValue& item : list->items) {
    LocatedText call = item.text;
    std::string error;
    if (const std::size_t end = call.text.find(kRaises); end != std::string::npos) {
      error = call.text.substr(end + kRaises.size());
      if (const auto at = std::ranges::find_if(error, is_control); at != error.end())
        source.report.error(call.at(end + kRaises.size() + static_cast<std::size_t>(at - error.begin())),
                            "the text of an error has no control characters here");
      call.text.resize(end);
    }
    auto sample = read(source, call, false);
    if (!sample) continue;
    sample->error = std::move(error);
    samples.push_back(std::move(*sample));
  }
  return samples;
}

}  // namespace keyway::inline v1
