#include <keyway/codegen/base/names.h>
#include <keyway/codegen/emit/autograd_plan.h>
#include <keyway/codegen/emit/cpp_formula.h>
#include <keyway/codegen/emit/cpp_types.h>
#include <keyway/codegen/expr/signature.h>
#include <keyway/codegen/model/op_scope.h>
#include <keyway/core/schema/lexer.h>

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <set>

namespace keyway::inline v1 {
namespace {

// "sum.dim_IntList" -> "SumDimIntList".
std::string camel_case(std::string_view name) {
  std::string out;
  bool begins = true;
  for (const char c : name) {
    if (c == '_' || c == '.' || c == ':') {
      begins = true;
      continue;
    }
    out += begins ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    begins = false;
  }
  return out;
}

// PyTorch's names of nodes: of the operator without its overload, a letter behind a digit in upper case, too. Their
// number tells overloads apart there; those that Python calls most have 0.
std::string node_title(const FunctionSchema& schema) {
  std::string_view name = schema.name();
  if (name.ends_with("_forward")) name.remove_suffix(8);
  std::string out = camel_case(name);
  for (std::size_t i = 1; i < out.size(); ++i) {
    if (detail::is_digit(out[i - 1])) out[i] = static_cast<char>(std::toupper(static_cast<unsigned char>(out[i])));
  }
  return out + "Backward0";
}

bool is_tensor(const Argument& argument) { return expr_type_of(argument.type()).base == ExprBase::Tensor; }
bool is_list(SchemaType type) { return expr_type_of(type).depth > 0; }

const Derivative* derivative_of(const Op& op, std::string_view input) {
  for (const Derivative& derivative : op.derivatives)
    if (contains(derivative.inputs, input)) return &derivative;
  return nullptr;
}

// --- Inputs

void add_inputs(const Op& op, AutogradPlan& plan) {
  const ArgumentList arguments = op.schema->arguments();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!is_tensor(arguments[i])) continue;
    const std::string name(arguments[i].name());
    if (const Derivative* derivative = derivative_of(op, name))
      plan.inputs.push_back({i, name, is_list(arguments[i].type()), derivative});
    else if (!op.derivatives.empty())
      plan.underived.push_back(name);
  }
  // Without derivatives an in-place overload still ends the history of what it overwrites.
  if (!op.derivatives.empty()) return;
  const auto self = arguments.find("self");
  const std::size_t target = self.value_or(0);
  if (target < arguments.size() && is_tensor(arguments[target]))
    plan.inputs.push_back({target, std::string(arguments[target].name()), false, nullptr});
}

// --- Fields

bool is_kept_as_vector(SchemaType type) {
  if (!type.is(TypeKind::List)) return false;
  const SchemaType item = type.element();
  return !item.is(TypeKind::Int) && !item.is(TypeKind::SymInt) && !item.is(TypeKind::Bool);
}

// What an argument is kept as.
std::string field_type(SchemaType type) {
  if (type.is(TypeKind::Optional)) return fmt::format("std::optional<{}>", field_type(type.element()));
  if (type.is(TypeKind::Str)) return "std::string";
  if (type.is(TypeKind::Scalar)) return "Scalar";
  if (type.is(TypeKind::Generator)) return "Generator";
  if (!type.is(TypeKind::List)) return canonical_type(type);
  if (is_kept_as_vector(type)) return fmt::format("std::vector<{}>", field_type(type.element()));
  return type.element().is(TypeKind::Bool) ? "SmallVector<bool, 4>" : "DimVector";
}

SchemaType schema_type_of(const Op& op, std::string_view name) {
  const FunctionSchema schema = *op.schema;
  if (const auto argument = schema.arguments().find(name)) return schema.arguments()[*argument].type();
  for (std::size_t i = 0; i < schema.returns().size(); ++i) {
    const auto names = result_names(schema, i);
    if (contains(names, name)) return schema.returns()[i].type();
  }
  return schema.returns()[0].type();
}

bool is_number(const ExprType& type) {
  return !type.optional && (type.is(ExprBase::Int) || type.is(ExprBase::Float) || type.is(ExprBase::Bool));
}

GradField field_for(const Op& op, const CheckedExpr& formula, const SavedValue& value) {
  GradField field{value.kind, value.expr, &formula, value.name + "_", {}, false, false, false, false, {}};
  if (value.kind == SavedKind::Metadata) {
    field.type = kept_type(value.type);
    field.optional = value.type.optional;
    field.number = is_number(value.type);
    return field;
  }
  const SchemaType type = schema_type_of(op, as<NameExpr>(*value.expr)->name);
  if (value.kind == SavedKind::Value) {
    field.type = field_type(type);
    field.optional = type.is(TypeKind::Optional);
    field.vector = is_kept_as_vector(type);
    field.number = is_number(expr_type_of(type));
  } else {
    field.list = is_list(type);
    field.type = field.list ? "std::vector<SavedVariable>" : "SavedVariable";
  }
  return field;
}

bool is_same_value(const GradField& field, const SavedValue& value) {
  return field.kind == value.kind && to_text(*field.expr) == to_text(*value.expr);
}

void add_fields(const Op& op, AutogradPlan& plan) {
  std::set<std::string> names;
  for (const Derivative& derivative : op.derivatives) {
    const auto inputs = inputs_of(plan, derivative);
    for (const SavedValue& value : derivative.saved) {
      auto field = std::ranges::find_if(plan.fields, [&](const GradField& f) { return is_same_value(f, value); });
      if (field == plan.fields.end()) {
        plan.fields.push_back(field_for(op, derivative.formula.expr, value));
        field = plan.fields.end() - 1;
        while (!names.insert(field->name).second) field->name += "_";
      }
      field->inputs.insert(field->inputs.end(), inputs.begin(), inputs.end());
    }
  }
  for (GradField& field : plan.fields) std::ranges::sort(field.inputs);
}

// --- Results

// Which result a name for a gradient means.
std::optional<std::size_t> result_of(const Op& op, std::string_view gradient) {
  if (gradient == "grad") return 0;
  for (std::size_t i = 0; i < op.schema->returns().size(); ++i)
    for (const std::string& name : result_names(*op.schema, i))
      if (gradient == "grad_" + name) return i;
  return std::nullopt;
}

// Whether argument i of a call may be an undefined tensor.
bool may_be_undefined(const CheckedExpr& formula, const Expr& call, std::size_t i) {
  const ExprNote& note = formula.note(call);
  const auto* e = as<CallExpr>(call);
  if (e == nullptr || note.role != ExprRole::Helper) return false;
  const Signature& signature = *note.called;
  const auto at = parameter_of(signature, {e->arguments[i].keyword, {}}, static_cast<int>(i));
  const auto* position = std::get_if<std::size_t>(&at);
  return position && (signature.parameters[*position].type.optional || signature.parameters[*position].type.depth > 0);
}

// Calls use(result, plain) for every gradient that `expr` names; plain if it goes where an undefined tensor may.
template <typename Use>
void each_gradient(const Op& op, const CheckedExpr& formula, const Expr& expr, bool plain, const Use& use) {
  const ExprNote& note = formula.note(expr);
  if (const auto* name = as<NameExpr>(expr); name && note.role == ExprRole::Gradient)
    if (const auto result = result_of(op, name->name)) use(*result, plain);
  const auto parts = children(expr);
  for (std::size_t i = 0; i < parts.size(); ++i)
    each_gradient(op, formula, *parts[i], may_be_undefined(formula, expr, i), use);
}

std::set<std::size_t> results_in(const Op& op, const Derivative& derivative) {
  std::set<std::size_t> results;
  const CheckedExpr& formula = derivative.formula.expr;
  each_gradient(op, formula, formula.root(), false, [&](std::size_t result, bool) { results.insert(result); });
  return results;
}

void add_results(const Op& op, AutogradPlan& plan) {
  std::set<std::size_t> results;
  std::set<std::size_t> zeros;
  for (const Derivative& derivative : op.derivatives) {
    const std::set<std::size_t> named = results_in(op, derivative);
    results.insert(named.begin(), named.end());
    const CheckedExpr& formula = derivative.formula.expr;
    each_gradient(op, formula, formula.root(), false, [&](std::size_t result, bool plain) {
      const bool list = is_list(op.schema->returns()[result].type());
      if ((named.size() > 1 || list) && !plain) zeros.insert(result);
    });
  }
  if (results.empty() && !op.schema->returns().empty()) results.insert(0);
  for (const std::size_t i : results) {
    std::string name = i == 0 ? "grad" : "grad_" + result_names(*op.schema, i).back();
    if (op.schema->arguments().find(name)) name = free_name(plan, name + "_");
    const bool list = is_list(op.schema->returns()[i].type());
    plan.results.push_back({i, name, list, zeros.count(i) > 0});
  }
}

}  // namespace

AutogradPlan autograd_plan(const Op& op) {
  AutogradPlan plan;
  plan.node = camel_case(op.name()) + "Backward";
  plan.title = node_title(*op.schema);
  add_inputs(op, plan);
  add_fields(op, plan);
  add_results(op, plan);
  return plan;
}

std::string free_name(const AutogradPlan& plan, std::string name) {
  while (contains(plan.fields, name, &GradField::name)) name += "_";
  return name;
}

std::vector<std::size_t> inputs_of(const AutogradPlan& plan, const Derivative& derivative) {
  std::vector<std::size_t> inputs;
  for (const std::string& name : derivative.inputs) {
    const auto input = std::ranges::find(plan.inputs, name, &GradInput::name);
    if (input != plan.inputs.end()) inputs.push_back(static_cast<std::size_t>(input - plan.inputs.begin()));
  }
  return inputs;
}

std::vector<std::size_t> gradients_of(const AutogradPlan& plan, const Op& op, const Derivative& derivative) {
  const std::set<std::size_t> named = results_in(op, derivative);
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < plan.results.size(); ++i)
    if (named.count(plan.results[i].result) > 0) positions.push_back(i);
  return positions;
}

const GradField& field_of(const AutogradPlan& plan, const SavedValue& value) {
  return *std::ranges::find_if(plan.fields, [&](const GradField& field) { return is_same_value(field, value); });
}

std::string saved_text(const Op& op) {
  return joined(texts_of(autograd_plan(op).fields, [](const GradField& field) { return to_text(*field.expr); }));
}

}  // namespace keyway::inline v1
