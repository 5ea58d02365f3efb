// Declarations of the C++ functions that are written by hand.
#include <keyway/codegen/emit/cpp_text.h>
#include <keyway/codegen/emit/cpp_types.h>
#include <keyway/codegen/emit/emitter.h>
#include <keyway/core/schema/printer.h>

#include <fmt/format.h>

namespace keyway::inline v1 {
namespace {

// An absent tensor is an undefined one, as gradients are; a list of sizes is what each() gives (generated_kernels.h).
std::string helper_type(SchemaType type) {
  const auto is_list = [](SchemaType of) { return of.is(TypeKind::List); };
  if (is_list(type) && is_list(type.element()) && type.element().element().is(TypeKind::Int))
    return "ArrayRef<DimVector>";
  const bool optional_tensor = type.is(TypeKind::Optional) && type.element().is(TypeKind::Tensor);
  return public_type(optional_tensor ? type.element() : type);
}

std::string declaration(const Family& family, const Helper& helper) {
  const FunctionSchema schema = *helper.schema;
  std::vector<std::string> parameters;
  for (const Argument argument : schema.arguments()) {
    const std::string otherwise = argument.has_default() ? " = " + public_default(argument) : "";
    parameters.push_back(fmt::format("{} {}{}", helper_type(argument.type()), argument.name(), otherwise));
  }
  const std::string_view api = family.library.empty() ? "KEYWAY_API " : "";
  return "\n" + comment(helper.doc) + comment(to_string(schema)) +
         Doc::list(fmt::format("{}{} {}(", api, public_result_type(schema), schema.name()), parameters, ");").lines();
}

}  // namespace

std::string emit_composites(const Family& family) {
  std::string declarations;
  for (const Op& op : family.ops) {
    if (op.recipe.kind != RecipeKind::Composite) continue;
    const FunctionSchema schema = *op.schema;
    declarations += "\n" + comment(to_string(schema)) +
                    Doc::list(fmt::format("{} {}(", public_result_type(schema), op.recipe.function),
                              public_parameters(schema), ");")
                        .lines();
  }
  if (declarations.empty()) return {};
  return header_text(
      file_banner(family) + "// The functions that composite operators are; their definitions are written by hand.\n",
      {"keyway/tensor.h"}, family, "composite", declarations);
}

std::string emit_helpers(const Family& family) {
  std::string declarations;
  for (const Helper& helper : family.helpers) declarations += declaration(family, helper);
  if (declarations.empty()) return {};
  return header_text(
      file_banner(family) +
          "// The C++ functions that formulas of derivatives call; their definitions are written by hand.\n",
      {"keyway/tensor.h"}, family, "autograd", declarations);
}

std::string emit_all_helpers(const std::vector<Family>& families) {
  const bool of_library = !families.front().library.empty();
  std::vector<std::string> paths = {of_library ? "keyway/autograd/helpers.h"
                                               : "keyway/autograd/formulas/formula_words.h"};
  for (const Family& family : families)
    if (!family.helpers.empty()) paths.push_back(own_header(family, "autograd/helpers_{}.h"));
  return file_banner(families) + "// What formulas of derivatives call besides operators.\n#pragma once\n\n" +
         includes(std::move(paths));
}

}  // namespace keyway::inline v1
