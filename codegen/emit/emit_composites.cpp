#include <keyway/codegen/emit/cpp_text.h>
#include <keyway/codegen/emit/cpp_types.h>
#include <keyway/codegen/emit/emitter.h>
#include <keyway/core/schema/printer.h>

#include <fmt/format.h>

namespace keyway::inline v1 {

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
  return file_banner(family) +
         "// The functions that composite operators are; their definitions are written by hand.\n" +
         "#pragma once\n\n" + includes({"keyway/tensor.h"}) + "\n" + open_namespace(family, "composite") +
         declarations + "\n" + close_namespace(family, "composite");
}

}  // namespace keyway::inline v1
