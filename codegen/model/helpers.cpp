#include <keyway/codegen/base/names.h>
#include <keyway/codegen/expr/vocabulary.h>
#include <keyway/codegen/model/entry_shape.h>
#include <keyway/codegen/model/helpers.h>
#include <keyway/codegen/model/op_reader.h>

#include <map>
#include <set>
#include <string>
#include <utility>

namespace keyway::inline v1 {
namespace {

// A helper is called by its name alone, and gives gradients.
void check_schema(FunctionSchema schema, Place place, const Report& report) {
  if (!schema.namespace_name().empty()) report.error(place, "a helper has no namespace");
  if (schema.is_mutable() || schema.is_alias() || schema.returns().empty())
    report.error(place, "a helper gives new values, and changes no argument");
}

std::optional<Helper> read_helper(const JsonValue& json, const Report& file_report) {
  if (!check_helper_shape(json, file_report)) return std::nullopt;
  const LocatedText& func = json.find("func")->text;
  std::optional<OwnedSchema> schema = read_schema(func, file_report);
  if (!schema) return std::nullopt;
  const Report report = file_report.in_op((*schema)->full_name());
  check_schema(**schema, func.place, report);
  return Helper{*std::move(schema), func.place, read_doc(*json.find("doc"), report)};
}

}  // namespace

std::vector<Helper> read_helpers(const JsonValue& file, const Report& report) {
  std::vector<Helper> helpers;
  const JsonValue* list = file.find("helpers");
  if (list == nullptr) return helpers;
  for (const JsonValue& json : list->items) {
    std::optional<Helper> helper = read_helper(json, report);
    if (!helper) continue;
    if (!helpers.empty() && helper->schema->full_name() < helpers.back().schema->full_name())
      report.in_op(helper->schema->full_name())
          .error(helper->place, "helpers are sorted by name: this one stands before {}",
                 helpers.back().schema->full_name());
    helpers.push_back(*std::move(helper));
  }
  return helpers;
}

void check_helpers(const std::vector<Family>& families, const FunctionTable& functions, Diagnostics& diagnostics) {
  std::set<std::string> called;
  for (const Family& family : families)
    for (const Op& op : family.ops)
      for (const Derivative& derivative : op.derivatives)
        each_node(derivative.formula.expr.root(), [&](const Expr& node) {
          const ExprNote& note = derivative.formula.expr.note(node);
          if (note.role == ExprRole::Helper) called.insert(note.target);
        });
  std::map<std::string, std::string> origins;
  for (const Family& family : families) {
    for (const Helper& helper : family.helpers) {
      const std::string name(helper.schema->full_name());
      const Report report = Report(diagnostics, family.file).in_op(name);
      const auto [first, added] = origins.emplace(name, report.at(helper.place));
      if (!added) report.error(helper.place, "stands already at {}", first->second);
      if (!functions.operators_named(helper.schema->name()).empty() ||
          !predicates_named(helper.schema->name(), ExprContext::Derivative).empty())
        report.error(helper.place, "formulas have an operator or a word of that name, and would call that");
      else if (!called.contains(name))
        report.error(helper.place, "no formula calls this helper");
    }
  }
}

}  // namespace keyway::inline v1
