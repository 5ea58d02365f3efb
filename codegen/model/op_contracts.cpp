#include <keyway/codegen/base/names.h>
#include <keyway/codegen/model/entry_shape.h>
#include <keyway/codegen/model/op_reader.h>
#include <keyway/codegen/model/op_scope.h>

#include <utility>

namespace keyway::inline v1 {

std::vector<Formula> read_contracts(const OpSource& source, std::string_view key, ExprContext context) {
  std::vector<Formula> contracts;
  const JsonValue* list = source.entry.find(key);
  if (!list) return contracts;
  Scope scope = argument_scope(*source.schema);
  std::vector<std::string> not_none;  // by the contracts so far, which a later one may rely on
  for (const JsonValue& listed : list->items) {
    const bool about_index = listed.kind == JsonKind::Object;
    if (about_index && !check_index_contract_shape(listed, source.report)) continue;
    const JsonValue& item = about_index ? *listed.find("index") : listed;
    auto formula = read_formula(item.text, context, scope, source.functions, source.report, not_none);
    if (!formula) continue;
    const ExprType& type = formula->expr.type();
    if (const auto* let = as<LetExpr>(formula->expr.root())) {
      if (const auto fault = argument_name_fault(let->name))
        source.report.error(item.place(), "the name {} {}", in_quotes(let->name), *fault);
      scope.add({let->name, type, ExprRole::Let});
    } else if (!type.is(ExprBase::Bool)) {
      const bool list_of_bools = type.base == ExprBase::Bool;
      source.report.error(item.place(), "a contract is a bool, but this is {}{}", type,
                          list_of_bools ? "; say all(...)" : "");
    }
    formula->about_index = about_index;
    for (std::string& name : not_none_if(formula->expr.root(), true)) not_none.push_back(std::move(name));
    contracts.push_back(std::move(*formula));
  }
  return contracts;
}

}  // namespace keyway::inline v1
