#include <keyway/codegen/base/names.h>
#include <keyway/codegen/emit/registrations.h>
#include <keyway/codegen/expr/signature.h>

#include <algorithm>
#include <fmt/format.h>

namespace keyway::inline v1 {
namespace {

bool takes_tensors(const Op& op) {
  return std::ranges::any_of(op.schema->arguments(), [](const Argument& argument) {
    return expr_type_of(argument.type()).base == ExprBase::Tensor;
  });
}

// The template of assembly/wrappers.h that serves an overload.
std::string_view wrapper_of(WrapperKind kind, OverloadKind overload) {
  constexpr std::string_view kWrappers[][3] = {
      {"Functional", "InPlace", "Out"},
      {"Mutating", "", ""},
      {"Returning", "", "ReturningOut"},
      {"View", "", ""},
      {"Composite", "CompositeInPlace", "CompositeOut"},
  };
  return kWrappers[static_cast<int>(kind)][static_cast<int>(overload)];
}

}  // namespace

bool has_native_kernel(const Op& op, std::string_view backend) {
  if (!takes_backend_kernel(op)) return false;
  const RecipeKind kind = op.recipe.kind;
  return kind == RecipeKind::Pointwise || kind == RecipeKind::Reduction || contains(op.recipe.kernels, backend);
}

bool is_below_autograd(const Op& op) {
  return op.recipe.kind != RecipeKind::Composite || op.differentiability_stated || !takes_tensors(op);
}

bool has_autograd_kernel(const Op& op, const Overload& overload) {
  return is_below_autograd(op) && (!op.differentiated().empty() || overload.schema->is_mutable());
}

bool has_autocast_kernel(const Op& op, const Overload& overload) {
  return op.autocast != AutocastPolicy::None && overload.kind == OverloadKind::Functional;
}

bool has_adinplace_kernel(const Op& op, const Overload& overload) {
  return is_below_autograd(op) && (overload.schema->is_mutable() || overload.schema->is_alias());
}

Doc wrapper_type(const Op& op, const Overload& overload) {
  return Doc::list(fmt::format("{}<", wrapper_of(wrapper_kind(op), overload.kind)),
                   {fmt::format("wrappers::{}", cpp_identifier(*op.schema)),
                    fmt::format("ops::{}_sig", cpp_identifier(*overload.schema))},
                   ">");
}

bool takes_backend_kernel(const Op& op) {
  const WrapperKind kind = wrapper_kind(op);
  return kind == WrapperKind::Computed || kind == WrapperKind::Mutating || kind == WrapperKind::Returning;
}

std::vector<Registration> registrations_of(const Op& op, const Overload& overload) {
  const std::string entry = cpp_identifier(*op.schema);
  const std::string id = cpp_identifier(*overload.schema);
  const Doc wrapper = wrapper_type(op, overload) + "::call";
  std::vector<Registration> list;
  const auto add_native = [&] {
    list.push_back(
        {"CPU", wrapper, Doc::list("&kKernelOf<", {"wrappers::" + entry, "cpu::" + entry}, ">"), "cpu::" + entry});
  };
  const WrapperKind kind = wrapper_kind(op);
  switch (kind) {
    case WrapperKind::Computed:
    case WrapperKind::Mutating:
    case WrapperKind::Returning:
      if (has_native_kernel(op, "CPU")) add_native();
      list.push_back({"Meta", wrapper, {}, "rules::" + (op.rule.empty() ? op.recipe.function : op.rule)});
      break;
    case WrapperKind::View:
      list.push_back({"CompositeExplicitAutograd", wrapper, {}, "rules::" + op.recipe.function});
      break;
    case WrapperKind::Composite:
      list.push_back({is_below_autograd(op) ? "CompositeExplicitAutograd" : "CompositeImplicitAutograd",
                      wrapper,
                      {},
                      "composite::" + op.recipe.function});
      break;
  }
  if (has_autograd_kernel(op, overload)) list.push_back({"Autograd", "autograd::" + id, {}, "autograd::" + id});
  if (has_adinplace_kernel(op, overload))
    list.push_back({"ADInplaceOrView", "autograd::adinplace_" + id, {}, "autograd::adinplace_" + id});
  if (has_autocast_kernel(op, overload)) {
    const std::string kernel = fmt::format("autocast::{}", to_string(op.autocast));
    list.push_back({"Autocast", "nullptr", {}, kernel, kernel});
  }
  return list;
}

}  // namespace keyway::inline v1
