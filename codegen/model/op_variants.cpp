#include <keyway/codegen/base/names.h>
#include <keyway/codegen/expr/expr_error.h>
#include <keyway/codegen/model/op_reader.h>
#include <keyway/codegen/model/variants.h>
#include <keyway/core/schema/parser.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace keyway::inline v1 {
namespace {

struct VariantName {
  std::string_view name;
  bool Variants::*flag;
  bool (*possible)(FunctionSchema);
  std::string_view needs;
};
constexpr VariantName kVariants[] = {
    {"function", &Variants::function, [](FunctionSchema) { return true; }, ""},
    {"method", &Variants::method, can_be_method,
     "a positional Tensor argument 'self', and no namespace in front of the name"},
    {"inplace", &Variants::inplace, can_be_inplace, "one Tensor result, and a Tensor that nothing writes to yet"},
    {"out", &Variants::out, can_have_out, "results that are Tensors, and no argument for them yet"},
};

// What an entry has that says nothing.
Variants default_variants(const OpSource& source, const Recipe& recipe) {
  const FunctionSchema schema = *source.schema;
  Variants variants = default_calls(schema, source.entry.find("namespace") != nullptr);
  variants.inplace = recipe.kind == RecipeKind::Pointwise && can_be_inplace(schema);
  const bool computes = recipe.kind == RecipeKind::Pointwise || recipe.kind == RecipeKind::Reduction ||
                        recipe.kind == RecipeKind::Kernels;
  variants.out = computes && can_have_out(schema);
  return variants;
}

void read_variant(const OpSource& source, const JsonValue& item, Variants& variants) {
  const std::string& name = item.text.text;
  const auto* variant = std::ranges::find(kVariants, name, &VariantName::name);
  if (variant == std::end(kVariants)) {
    source.report.error(item.place(), "unknown variant {}{}", in_quotes(name),
                        did_you_mean(name, kVariants, &VariantName::name));
  } else if (!variant->possible(*source.schema)) {
    source.report.error(item.place(), "the variant {} needs {}", in_quotes(name), variant->needs);
  } else {
    variants.*variant->flag = true;
  }
}

// `start_out` or `values(values, indices)`: a name, or a call with names. Throws ExprError.
OutOverload parse_out(const std::string& text) {
  const ExprPtr expr = parse_expr(text);
  const auto name_of = [](const Expr& part) {
    const auto* name = as<NameExpr>(part);
    if (!name) throw ExprError(part.offset, "'out' is a name, or a name with names: \"values(values, indices)\"");
    return name->name;
  };
  const auto* call = as<CallExpr>(*expr);
  if (!call) return {name_of(*expr), {}};
  OutOverload out{call->function, {}};
  for (const CallArgument& argument : call->arguments) {
    std::string name = argument.keyword.empty() ? name_of(*argument.value) : argument.keyword;
    if (const auto fault = argument_name_fault(name))
      throw ExprError(argument.value->offset, "the argument name {} {}", in_quotes(name), *fault);
    if (contains(out.arguments, name))
      throw ExprError(argument.value->offset, "there are two arguments named {}", in_quotes(name));
    out.arguments.push_back(std::move(name));
  }
  return out;
}

// There must be an argument for each result, and together a schema.
void check_out(const OpSource& source, const OutOverload& out, Place place) {
  const FunctionSchema schema = *source.schema;
  if (out.arguments.size() != schema.returns().size()) {
    source.report.error(place, "'out' names {} arguments, but there are {} results", out.arguments.size(),
                        schema.returns().size());
    return;
  }
  const std::string text = out_text(schema, out);
  const ParseResult parsed = parse_schema(text);
  if (parsed.error.code == SchemaErrorCode::None) return;
  std::string message = "the out= overload cannot be: ";
  append_message(message, parsed.error);
  source.report.error(place, message);
}

}  // namespace

Variants read_variants(const OpSource& source, const Recipe& recipe) {
  const JsonValue* list = source.entry.find("variants");
  const JsonValue* out = source.entry.find("out");
  Variants variants = default_variants(source, recipe);
  if (list) {
    variants = {};
    if (list->items.empty()) source.report.error(list->place(), "'variants' names none");
    for (const JsonValue& item : list->items) read_variant(source, item, variants);
    unique_words(source, *list, "variant");
  }
  if (out && !can_have_out(*source.schema))
    source.report.error(out->place(), "'out' needs {}", kVariants[3].needs);
  else if (out)
    variants.out = true;
  return variants;
}

OutOverload read_out(const OpSource& source, const Variants& variants) {
  if (!variants.out) return {};
  OutOverload out = default_out(*source.schema);
  const JsonValue* value = source.entry.find("out");
  if (value) {
    try {
      OutOverload given = parse_out(value->text.text);
      if (!given.arguments.empty()) out.arguments = std::move(given.arguments);
      out.name = std::move(given.name);
    } catch (const ExprError& error) {
      source.report.error(value->text.at(error.offset()), error.what());
      return out;
    }
  }
  check_out(source, out, value ? value->place() : source.func().place);
  return out;
}

}  // namespace keyway::inline v1
