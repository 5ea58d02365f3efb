#include <keyway/codegen/base/names.h>
#include <keyway/codegen/emit/cpp_text.h>
#include <keyway/codegen/emit/cpp_types.h>
#include <keyway/codegen/emit/emitter.h>
#include <keyway/codegen/model/variants.h>
#include <keyway/core/schema/printer.h>

#include <fmt/format.h>

namespace keyway::inline v1 {
namespace {

std::string alias_text(FunctionSchema schema) {
  const std::string identifier = cpp_identifier(schema);
  const auto types = texts_of(schema.arguments(), [](const Argument& a) { return canonical_type(a.type()); });
  return Doc::list(fmt::format("using {}_sig = {}(", identifier, canonical_result_type(schema)), types, ");").lines();
}

std::string entry_text(FunctionSchema schema) {
  return comment(to_string(schema)) + fmt::format("extern KEYWAY_API OperatorEntry {};\n", cpp_identifier(schema)) +
         alias_text(schema);
}

// By which m.impl<"op"> checks kernels.
std::string schema_text(FunctionSchema schema) {
  constexpr std::string_view kOwn = "keyway::";
  std::string_view name = schema.full_name();
  if (name.starts_with(kOwn)) name.remove_prefix(kOwn.size());
  return fmt::format("template <>\ninline constexpr std::string_view schema_of<{}> =\n", cpp_string(name)) +
         (Doc::literal(to_string(schema)) + ";").lines(4);
}

}  // namespace

std::string emit_entries(const Family& family) {
  std::string out = file_banner(family) + "#pragma once\n\n" +
                    includes({"keyway/dispatch/call/operator_entry.h", "keyway/dispatch/call/schema_of.h",
                              "keyway/dispatch/call/signature.h"}) +
                    "\n" + open_namespace(family, "ops");
  for (const Op& op : family.ops)
    for (const Overload& overload : expand_variants(op)) out += "\n" + entry_text(*overload.schema);
  out += "\n" + close_namespace(family, "ops") + "\nnamespace keyway::inline v1 {\n\n";
  for (const Op& op : family.ops)
    for (const Overload& overload : expand_variants(op)) out += schema_text(*overload.schema);
  return out + "\n}  // namespace keyway::inline v1\n";
}

}  // namespace keyway::inline v1
