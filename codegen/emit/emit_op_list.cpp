#include <keyway/codegen/emit/cpp_text.h>
#include <keyway/codegen/emit/emitter.h>
#include <keyway/codegen/model/variants.h>

#include <algorithm>
#include <fmt/format.h>

namespace keyway::inline v1 {

namespace {

// What stands in the list of operators of a program that selects none of graph's.
constexpr std::string_view kNoControlFlow =
    "namespace graph {\nconstinit const ControlFlow kControlFlow{};\n}  // namespace graph\n\n";

// A file with the list of `ops`. In a library out of tree it makes them known; in Keyway it is what the registry begins
// with, and weak where a program may have a shorter one.
std::string list_text(const std::vector<Family>& families, const std::map<std::string, std::string>& ops, bool weak,
                      bool has_control_flow = true) {
  const Family& any = families.front();
  const bool of_library = !any.library.empty();
  std::vector<std::string> paths{of_library ? "keyway/dispatch/registry/op_library.h"
                                            : "keyway/dispatch/call/operator_entry.h"};
  for (const Family& family : families) paths.push_back(own_header(family, "ops/{}_entries.h"));
  if (!has_control_flow) paths.emplace_back("keyway/graph/control_flow_operators.h");
  std::string out = file_banner(families) + "\n// Operators, sorted by full name.\n" + includes(std::move(paths)) +
                    "\n#include <iterator>\n\n" + open_namespace(any, "") +
                    "\nnamespace {\nconstexpr OperatorEntry* kOps[] = {\n";
  for (const auto& [name, id] : ops) out += fmt::format("    &ops::{},\n", id);
  out += of_library ? "};\n// Before the library's own blocks, which may give these operators kernels.\n"
                      "[[gnu::init_priority(1000)]] const OpLibrary library(OpList{kOps, std::size(kOps)});\n"
                      "}  // namespace\n\n"
                    : fmt::format(
                          "}};\n}}  // namespace\n\n{}constinit const OpList kBuiltinOps{{kOps, "
                          "std::size(kOps)}};\n\n",
                          weak ? "[[gnu::weak]] extern const OpList kBuiltinOps;\n" : "");
  if (!has_control_flow) out += kNoControlFlow;
  return out + close_namespace(any, "");
}

}  // namespace

std::map<std::string, std::string> overload_names(const std::vector<Family>& families) {
  std::map<std::string, std::string> names;
  for (const Family& family : families)
    for (const Op& op : family.ops)
      for (const Overload& overload : expand_variants(op))
        names.emplace(qualified_name(*overload.schema), cpp_identifier(*overload.schema));
  return names;
}

std::string emit_op_list(const std::vector<Family>& families) {
  return list_text(families, overload_names(families), true);
}

std::vector<OutputFile> emit_selected_ops(const std::vector<Family>& families, const std::set<std::string>& wanted) {
  std::map<std::string, std::string> chosen;
  std::string left_out;
  for (const auto& [name, id] : overload_names(families)) {
    if (wanted.contains(name)) {
      chosen.emplace(name, id);
    } else {
      left_out += fmt::format("    _ZN6keyway2v13ops{}{}E;\n", id.size(), id);
    }
  }
  const bool has_control_flow =
      std::ranges::any_of(kControlFlowOperators, [&](std::string_view op) { return wanted.contains(std::string(op)); });
  return {{"left_out.map", left_out}, {"op_list.cpp", list_text(families, chosen, false, has_control_flow)}};
}

}  // namespace keyway::inline v1
