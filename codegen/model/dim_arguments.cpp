#include <keyway/codegen/base/names.h>
#include <keyway/codegen/expr/signature.h>
#include <keyway/codegen/model/dim_arguments.h>

namespace keyway::inline v1 {
namespace {

// Calls f with every call of a function in the contracts, and with the contract.
void each_call(const Op& op, const auto& f) {
  for (const Formula& contract : op.contracts)
    each_node(contract.expr.root(), [&](const Expr& node) {
      if (const auto* call = as<CallExpr>(node)) f(*call, contract);
    });
}

}  // namespace

std::vector<DimArgument> dim_arguments(const Op& op) {
  std::vector<DimArgument> out;
  each_call(op, [&](const CallExpr& call, const Formula& contract) {
    if (call.function != "is_dim" && call.function != "are_dims" && call.function != "is_permutation") return;
    const auto* name = as<NameExpr>(*call.arguments[0].value);
    const auto index = name ? op.schema->arguments().find(name->name) : std::nullopt;
    if (!index || contains(out, name->name, &DimArgument::name)) return;
    const ExprType type = expr_type_of(op.schema->arguments()[*index].type());
    out.push_back({name->name, type.depth > 0, type.optional, &contract, call.arguments[1].value.get()});
  });
  return out;
}

std::string joined_dim(const Op& op) {
  std::string dim;
  each_call(op, [&](const CallExpr& call, const Formula&) {
    const auto* name = call.function == "concatenable" ? as<NameExpr>(*call.arguments[1].value) : nullptr;
    if (name != nullptr && op.schema->arguments().find(name->name)) dim = name->name;
  });
  return dim;
}

void check_reduced_dims(const Op& op, const OpSource& source) {
  if (op.recipe.kind != RecipeKind::Reduction) return;
  const std::vector<DimArgument> dims = dim_arguments(op);
  for (const Argument argument : op.schema->arguments()) {
    if (expr_type_of(argument.type()).base != ExprBase::Int) continue;
    if (contains(dims, argument.name(), &DimArgument::name)) continue;
    source.report.error(source.place_of(argument.name()),
                        "no contract says that {} is a dimension, which the reduction has to know: write "
                        "is_dim or are_dims of it",
                        in_quotes(argument.name()));
  }
}

}  // namespace keyway::inline v1
