#include <keyway/codegen/base/names.h>
#include <keyway/codegen/expr/signature.h>
#include <keyway/codegen/expr/vocabulary.h>
#include <keyway/codegen/model/op_reader.h>
#include <keyway/codegen/model/op_scope.h>

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <utility>

namespace keyway::inline v1 {
namespace {

// The arguments and results that have a dtype.
std::vector<std::string> tensor_names(FunctionSchema schema) {
  std::vector<std::string> names;
  for (const Argument argument : schema.arguments())
    if (expr_type_of(argument.type()).base == ExprBase::Tensor) names.emplace_back(argument.name());
  for (std::size_t i = 0; i < schema.returns().size(); ++i)
    for (std::string& name : result_names(schema, i)) names.push_back(std::move(name));
  return names;
}

void check_preset(const OpSource& source, const JsonValue& value) {
  const auto presets = dtype_presets();
  const std::string& name = value.text.text;
  if (std::ranges::find(presets, name) == presets.end())
    source.report.error(value.place(),
                        fmt::format("unknown dtype preset {}{}", in_quotes(name), did_you_mean(name, presets)));
}

}  // namespace

DTypes read_dtypes(const OpSource& source) {
  DTypes dtypes;
  const JsonValue* value = source.entry.find("dtypes");
  if (!value) return dtypes;
  if (value->kind == JsonKind::String) {
    check_preset(source, *value);
    dtypes.preset = value->text.text;
    return dtypes;
  }
  const Scope scope = dtype_scope(*source.schema);
  const auto known = tensor_names(*source.schema);
  std::set<std::string> seen;
  for (const JsonMember& member : value->members) {
    std::vector<std::string> names;
    for (auto& [name, place] : listed_names(member.key)) {
      if (std::ranges::find(known, name) == known.end())
        source.report.error(
            place, fmt::format("no tensor argument or result {}{}", in_quotes(name), did_you_mean(name, known)));
      else if (!seen.insert(name).second)
        source.report.error(place, fmt::format("{} has a dtype rule already", in_quotes(name)));
      names.push_back(std::move(name));
    }
    auto set = read_formula(member.value.text, ExprContext::DType, scope, source.functions, source.report);
    if (!set) continue;
    const ExprType& type = set->expr.type();
    if (!type.is(ExprBase::DTypeSet) && !(type.is(ExprBase::DType) && !type.optional))
      source.report.error(member.value.place(),
                          fmt::format("a dtype rule is a dtype or a set of them, but this is {}", to_string(type)));
    dtypes.rules.push_back({std::move(names), std::move(*set)});
  }
  return dtypes;
}

}  // namespace keyway::inline v1
