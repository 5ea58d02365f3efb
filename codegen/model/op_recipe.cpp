#include <keyway/codegen/base/names.h>
#include <keyway/codegen/model/op_reader.h>

#include <algorithm>

namespace keyway::inline v1 {
namespace {

// What generated code calls: a functor, a geometry function, a composite, a rule.
std::string read_function(const OpSource& source, std::string_view key, const JsonValue& value) {
  const std::string& name = value.text.text;
  if (const auto fault = qualified_name_fault(name))
    source.report.error(value.place(), "{}: {} {}", key, in_quotes(name), *fault);
  return name;
}

// The backends that the generator writes registrations for. Others register their kernels themselves.
constexpr std::string_view kBackends[] = {"CPU", "CUDA"};

std::vector<std::string> read_kernels(const OpSource& source, const JsonValue& list) {
  if (list.items.empty()) source.report.error(list.place(), "'kernels' names no backend");
  for (const JsonValue& item : list.items) {
    const std::string& name = item.text.text;
    if (!contains(kBackends, name))
      source.report.error(item.place(), "no kernels are generated for a backend {}: the backends are CPU and CUDA{}",
                          in_quotes(name), did_you_mean(name, kBackends));
  }
  return unique_words(source, list, "backend");
}

bool has_aliasing_result(FunctionSchema schema) {
  return std::ranges::any_of(schema.returns(), [](const Argument& result) { return result.is_alias(); });
}

}  // namespace

Recipe read_recipe(const OpSource& source) {
  Recipe recipe;
  int count = 0;
  for (const RecipeKind kind :
       {RecipeKind::Pointwise, RecipeKind::Reduction, RecipeKind::View, RecipeKind::Composite, RecipeKind::Kernels}) {
    const std::string_view key = to_string(kind);
    const JsonValue* value = source.entry.find(key);
    if (!value) continue;
    const bool beside_composite = kind == RecipeKind::Kernels && count == 1 && recipe.kind == RecipeKind::Composite;
    if (!beside_composite) {
      if (++count == 2)
        source.report.error(value->place(), "{} is a second recipe; an op has one (or composite and kernels)",
                            in_quotes(key));
      recipe.kind = kind;
    }
    if (kind == RecipeKind::Kernels)
      recipe.kernels = read_kernels(source, *value);
    else
      recipe.function = read_function(source, key, *value);
  }
  if (count == 0) recipe = {RecipeKind::Composite, std::string(source.schema->name()), {}};
  if (count == 1 && recipe.kind == RecipeKind::View && !has_aliasing_result(*source.schema))
    source.report.error(source.func().place, "a view's result aliases its input; write Tensor(a) for both");
  return recipe;
}

std::string read_rule(const OpSource& source, const Recipe& recipe) {
  const JsonValue* value = source.entry.find("rule");
  if (value && recipe.kernels.empty())
    source.report.error(value->place(), "'rule' goes with 'kernels'; the other recipes imply theirs");
  if (value) return read_function(source, "rule", *value);
  return recipe.kind == RecipeKind::Kernels ? std::string(source.schema->name()) : std::string();
}

}  // namespace keyway::inline v1
