#include <keyway/codegen/base/names.h>
#include <keyway/codegen/expr/signature.h>
#include <keyway/codegen/expr/vocabulary.h>
#include <keyway/codegen/model/op_reader.h>
#include <keyway/codegen/model/op_scope.h>
#include <keyway/codegen/model/wrapper_kind.h>

#include <algorithm>
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
  if (!contains(presets, name))
    source.report.error(value.place(), "unknown dtype preset {}{}", in_quotes(name), did_you_mean(name, presets));
}

bool is_argument(FunctionSchema schema, std::string_view name) { return schema.arguments().find(name).has_value(); }

// Which result has the name: as many as there are if it is none's, as arguments have their names first.
std::size_t result_index(FunctionSchema schema, std::string_view name) {
  const std::size_t results = schema.returns().size();
  for (std::size_t i = 0; i < results && !is_argument(schema, name); ++i) {
    const auto names = result_names(schema, i);
    if (contains(names, name)) return i;
  }
  return results;
}

// Dtypes of results are planned in order, after those of arguments are checked. `known` results are there already.
void check_part(const OpSource& source, const LocatedText& text, const Expr& part, std::size_t known) {
  const auto* name = as<NameExpr>(part);
  const std::size_t result = name ? result_index(*source.schema, name->name) : source.schema->returns().size();
  if (result < source.schema->returns().size() && result >= known)
    source.report.error(text.at(part.offset),
                        "the dtype of {} is not known here: a rule of a result names results before it, "
                        "and one of an argument none",
                        in_quotes(name->name));
  for (const ExprPtr& child : children(part)) {
    if (const std::string_view word = promotion_word(*child); !word.empty())
      source.report.error(text.at(child->offset), "{} is a whole rule", in_quotes(word));
    check_part(source, text, *child, known);
  }
}

void check_rule(const OpSource& source, const LocatedText& key, const LocatedText& text, const DTypeRule& rule) {
  const Expr& root = rule.set.expr.root();
  const std::string_view word = promotion_word(root);
  std::size_t known = source.schema->returns().size();
  for (const std::string& name : rule.names) {
    const bool argument = is_argument(*source.schema, name);
    known = std::min(known, argument ? 0 : result_index(*source.schema, name));
    if (!argument && !word.empty())
      source.report.error(key.place, "{} is of arguments, but {} is a result", in_quotes(word), in_quotes(name));
  }
  check_part(source, text, root, known);
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
    bool all_known = true;
    for (auto& [name, place] : listed_names(member.key)) {
      const bool is_known = contains(known, name);
      all_known = all_known && is_known;
      if (!is_known)
        source.report.error(place, "no tensor argument or result {}{}", in_quotes(name), did_you_mean(name, known));
      else if (!seen.insert(name).second)
        source.report.error(place, "{} has a dtype rule already", in_quotes(name));
      names.push_back(std::move(name));
    }
    auto set = read_formula(member.value.text, ExprContext::DType, scope, source.functions, source.report);
    if (!set) continue;
    const ExprType& type = set->expr.type();
    if (!type.is(ExprBase::DTypeSet) && !(type.is(ExprBase::DType) && !type.optional))
      source.report.error(member.value.place(), "a dtype rule is a dtype or a set of them, but this is {}", type);
    dtypes.rules.push_back({std::move(names), std::move(*set)});
    if (all_known) check_rule(source, member.key, member.value.text, dtypes.rules.back());
  }
  return dtypes;
}

// What is written beside the results, as running statistics are, promotes with no operand.
void check_promotions(const Op& op, const OpSource& source) {
  const ArgumentList arguments = op.schema->arguments();
  const auto is_operand = [&](const std::string& name) { return !arguments[*arguments.find(name)].is_write(); };
  for (const DTypeRule& rule : op.dtypes.rules) {
    const std::string_view word = promotion_word(rule.set.expr.root());
    if (!word.empty() && planned_results(op) > 0 && std::ranges::none_of(rule.names, is_operand))
      source.report.error(rule.set.text.place, "{} is of operands, but these are written beside the results",
                          in_quotes(word));
  }
}

}  // namespace keyway::inline v1
