#include <keyway/codegen/base/names.h>
#include <keyway/codegen/emit/emitter.h>
#include <keyway/codegen/emit/registrations.h>
#include <keyway/codegen/model/variants.h>
#include <keyway/core/schema/printer.h>

#include <fmt/format.h>

namespace keyway::inline v1 {
namespace {

std::string contracts(std::string_view title, const std::vector<Formula>& formulas) {
  if (formulas.empty()) return {};
  std::string out = fmt::format("\n{}:\n\n", title);
  for (const Formula& formula : formulas) out += fmt::format("- `{}`\n", to_text(formula.expr.root()));
  return out;
}

std::string dtypes(const DTypes& dtypes) {
  if (!dtypes.preset.empty()) return fmt::format("\nDtypes: `{}`\n", dtypes.preset);
  if (dtypes.rules.empty()) return {};
  std::string out = "\nDtypes:\n\n";
  for (const DTypeRule& rule : dtypes.rules)
    out += fmt::format("- `{}`: `{}`\n", joined(rule.names, "`, `"), to_text(rule.set.expr.root()));
  return out;
}

std::string derivatives(const Op& op) {
  if (op.derivatives.empty()) return op.differentiability_stated ? "\nNot differentiable.\n" : "";
  std::string out = "\nDerivatives:\n\n";
  for (const Derivative& derivative : op.derivatives) {
    out += fmt::format("- `{}`: `{}`", joined(derivative.inputs, "`, `"), to_text(derivative.formula.expr.root()));
    const auto saved = texts_of(derivative.saved, [](const SavedValue& value) { return to_text(*value.expr); });
    if (!saved.empty()) out += fmt::format("; keeps `{}`", joined(saved, "`, `"));
    out += "\n";
  }
  return out;
}

std::string op_section(const Op& op) {
  std::string schemas;
  for (const Overload& overload : expand_variants(op)) schemas += to_string(*overload.schema) + "\n";
  std::string out = fmt::format("\n## `{}`\n\n{}\n\n```text\n{}```\n", op.name(), op.doc, schemas);
  if (!op.aliases.empty()) out += fmt::format("\nAlso called `{}`.\n", joined(op.aliases, "`, `"));
  if (!op.tags.empty()) out += fmt::format("\nTags: {}\n", joined(op.tags));
  out += dtypes(op.dtypes);
  out += contracts("Requires", op.contracts);
  out += contracts("Requires of the data", op.values);
  out += derivatives(op);
  if (op.autocast != AutocastPolicy::None) out += fmt::format("\nAutocast: {}.\n", to_string(op.autocast));
  return out + fmt::format("\nExample:\n\n```text\n{}\n```\n", op.example.text.text);
}

}  // namespace

std::string emit_docs(const Family& family) {
  std::string out = fmt::format("# {}\n\n{}\n", family.name, family.doc);
  for (const Op& op : family.ops) out += op_section(op);
  return out;
}

}  // namespace keyway::inline v1
