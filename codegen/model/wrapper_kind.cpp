#include <keyway/codegen/base/names.h>
#include <keyway/codegen/model/wrapper_kind.h>

#include <algorithm>

namespace keyway::inline v1 {
namespace {

std::size_t fresh_results(const Op& op) {
  const ArgumentList returns = op.schema->returns();
  const auto fresh = std::ranges::count_if(returns, [](const Argument& result) { return !result.is_alias(); });
  return static_cast<std::size_t>(fresh);
}

}  // namespace

bool has_tag(const Op& op, std::string_view tag) { return contains(op.tags, tag); }

WrapperKind wrapper_kind(const Op& op) {
  if (op.recipe.kind == RecipeKind::View) return WrapperKind::View;
  if (op.recipe.kind == RecipeKind::Composite) return WrapperKind::Composite;
  if (has_tag(op, "allocates") || has_tag(op, "scalar_result")) return WrapperKind::Returning;
  return fresh_results(op) > 0 ? WrapperKind::Computed : WrapperKind::Mutating;
}

std::size_t planned_results(const Op& op) { return wrapper_kind(op) == WrapperKind::Computed ? fresh_results(op) : 0; }

}  // namespace keyway::inline v1
