// Wrappers and tables of a family's operators.
#include <keyway/codegen/base/names.h>
#include <keyway/codegen/emit/autograd_plan.h>
#include <keyway/codegen/emit/cpp_contract.h>
#include <keyway/codegen/emit/cpp_dtypes.h>
#include <keyway/codegen/emit/cpp_text.h>
#include <keyway/codegen/emit/emitter.h>
#include <keyway/codegen/emit/registrations.h>
#include <keyway/codegen/emit/wrapper_text.h>
#include <keyway/codegen/model/variants.h>
#include <keyway/core/schema/printer.h>

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace keyway::inline v1 {
namespace {

constexpr std::string_view kRules = "ops/rules/{}.h";

bool any_overload(const Family& family, bool (*test)(const Op&, const Overload&)) {
  return std::ranges::any_of(family.ops, [&](const Op& op) {
    return std::ranges::any_of(expand_variants(op), [&](const Overload& overload) { return test(op, overload); });
  });
}

// Whether the entry names a function of the family's rules. Keyway's own geometry of views is that of all families.
bool names_rule(const Family& family, const Op& op) {
  const WrapperKind kind = wrapper_kind(op);
  return (kind == WrapperKind::Computed && op.recipe.kind == RecipeKind::Kernels) ||
         (kind == WrapperKind::View && !family.library.empty());
}

std::string include_lines(const Family& family) {
  std::vector<std::string> paths{"keyway/assembly/wrappers.h",   "keyway/dispatch/registry/static_table.h",
                                 "keyway/ops/rules/list_ops.h",  "keyway/ops/rules/predicates.h",
                                 "keyway/ops/rules/promotion.h", own_header(family, "ops/{}_entries.h")};
  for (const Op& op : family.ops) {
    const WrapperKind kind = wrapper_kind(op);
    if (takes_backend_kernel(op)) paths.emplace_back("keyway/assembly/on_device.h");
    if (kind != WrapperKind::Computed) paths.emplace_back("keyway/assembly/wrapper_sorts.h");
    if (kind == WrapperKind::View) paths.emplace_back("keyway/ops/rules/views.h");
    if (op.recipe.kind == RecipeKind::Pointwise) paths.emplace_back("keyway/ops/rules/broadcast.h");
    if (op.recipe.kind == RecipeKind::Reduction) paths.emplace_back("keyway/ops/rules/reduction.h");
    if (dtype_plan(op).compares) paths.emplace_back("keyway/assembly/comparands.h");
    if (names_rule(family, op)) paths.push_back(own_header(family, kRules));
    if (kind == WrapperKind::Composite) {
      paths.emplace_back("keyway/assembly/composite.h");
      paths.push_back(own_header(family, "ops/{}_composites.h"));
    }
    if (op.planned || calls_operators(op)) paths.emplace_back("keyway/assembly/plans.h");
  }
  if (std::ranges::any_of(family.ops, [](const Op& op) { return has_native_kernel(op, "CPU"); }))
    paths.push_back(own_header(family, "backends/cpu/kernels_{}.h"));
  if (any_overload(family, has_autograd_kernel) || any_overload(family, has_adinplace_kernel))
    paths.push_back(own_header(family, "autograd/kernels_{}.h"));
  if (any_overload(family, has_autocast_kernel)) paths.emplace_back("keyway/autocast/kernels.h");
  const bool any_rule = std::ranges::any_of(family.ops, [&](const Op& op) { return names_rule(family, op); });
  return (any_rule ? missing_header_check(family, own_header(family, kRules), "rules") : std::string()) +
         includes(std::move(paths));
}

// The overloads of an entry but the first.
std::string other_overloads(const Op& op) {
  std::string names;
  const std::vector<Overload> all = expand_variants(op);
  for (std::size_t i = 1; i < all.size(); ++i) {
    const FunctionSchema schema = *all[i].schema;
    names += fmt::format("{}{}{}{}", names.empty() ? "" : " ", schema.name(), schema.overload_name().empty() ? "" : ".",
                         schema.overload_name());
  }
  return names;
}

// Which arguments a derivative is taken by, a bit each. Overloads have the arguments of the entry first, an in-place
// one with another name for what is written.
std::uint64_t derived_arguments(const Op& op) {
  std::uint64_t derived = 0;
  const ArgumentList arguments = op.schema->arguments();
  for (const Derivative& derivative : op.derivatives)
    for (const std::string& input : derivative.inputs)
      if (const auto index = arguments.find(input)) derived |= std::uint64_t{1} << *index;
  return derived;
}

std::string info_text(const Family& family, const Op& op, const Overload& overload) {
  const FunctionSchema schema = *overload.schema;
  const std::string id = cpp_identifier(schema);
  std::string out = fmt::format("constexpr OpInfo {}_info{{\n", id);
  const auto set = [&](std::string_view name, Doc value) {
    out += (Doc::assignment(fmt::format(".{}", name), std::move(value)) + ",").lines(4);
  };
  const auto field = [&](std::string_view name, std::string_view text) {
    if (!text.empty()) set(name, Doc::literal(text));
  };
  field("name", fmt::format("{}::{}", namespace_of(schema), schema.name()));
  field("overload", schema.overload_name());
  field("schema", to_string(schema));
  field("file", family.file);
  set("line", fmt::to_string(op.place().line));
  set("signature", fmt::format("signature_hash<ops::{}_sig>", id));
  set("boxed", fmt::format("kBoxedCallInfo<ops::{}_sig>", id));
  if (op.vmap.name != kVmapRules[0].name) set("vmap", fmt::format("vmap_rule(\"{}\")", op.vmap.name));
  const std::string_view jvp = schema.is_mutable() && !op.jvp.in_place.empty() ? op.jvp.in_place : op.jvp.name;
  if (jvp != kJvpRules[0].name) set("jvp", fmt::format("jvp_rule(\"{}\")", jvp));
  if (op.counterpart) set("counterpart", fmt::format("&keyway::ops::{}", cpp_identifier(**op.counterpart)));
  if (const std::uint64_t derived = derived_arguments(op)) set("derived", fmt::format("{:#b}", derived));
  field("tags", joined(op.tags, " "));
  field("doc", op.doc);
  field("example", op.example.text.text);
  field("saved", saved_text(op));
  if (takes_backend_kernel(op)) {
    set("wrapper", Doc::list("&kBackendWrapper<",
                             {wrapper_type(op, overload), fmt::format("ops::{}_sig", id),
                              fmt::format("wrappers::{}::Kernel", cpp_identifier(*op.schema))},
                             ">"));
    if (schema.text() == op.schema->text()) field("served_too", other_overloads(op));
  }
  return out + "};\n";
}

// Information, table and entry of one overload.
std::string table_text(const Family& family, const Op& op, const Overload& overload) {
  const FunctionSchema schema = *overload.schema;
  const std::string id = cpp_identifier(schema);
  std::vector<Doc> infos{"{}"}, kernels;
  for (const Registration& r : registrations_of(op, overload)) {
    const std::string key = "DispatchKey::" + r.key;
    infos.push_back(
        Doc::list("{", {key, cpp_string(r.name), cpp_string(family.file), fmt::to_string(op.place().line)}, "}"));
    std::vector<Doc> fields{key, r.kernel};
    if (!r.context.empty()) fields.push_back(r.context);
    if (!r.boxed.empty()) fields.insert(fields.end(), {"nullptr", r.boxed});
    kernels.push_back(Doc::list("{", std::move(fields), "}"));
  }
  const Doc table = Doc::list(fmt::format("make_static_table<ops::{}_sig>(", id),
                              {"ops::" + id, id + "_kernels", Doc::rows("{", std::move(kernels), "}")}, ");");
  return comment(to_string(schema)) + "namespace {\n" + info_text(family, op, overload) +
         Doc::below(Doc::rows(fmt::format("constexpr KernelInfo {}_kernels[] = {{", id), std::move(infos), "};"))
             .lines() +
         Doc::assignment(fmt::format("constinit const auto {}_table", id), Doc::below(table)).lines() +
         "}  // namespace\n" +
         Doc::list(fmt::format("constinit OperatorEntry ops::{}{{", id), {id + "_info", id + "_table"}, "};").lines();
}

// Of Keyway's own, whose families' headers these files need not have.
std::string counterparts_text(const Family& family) {
  std::set<std::string> names;
  for (const Op& op : family.ops)
    if (op.counterpart) names.insert(cpp_identifier(**op.counterpart));
  std::string out;
  for (const std::string& name : names) out += fmt::format("extern KEYWAY_API OperatorEntry {};\n", name);
  if (out.empty()) return out;
  return "\nnamespace keyway::inline v1::ops {\n" + out + "}  // namespace keyway::inline v1::ops\n";
}

std::string planned_text(const Family& family) {
  std::string out;
  for (const Op& op : family.ops) {
    if (!op.planned) continue;
    const auto names = concatenated({"plan_"}, texts_of(op.schema->arguments(), &Argument::name));
    out += plan_declaration(op, ") {") +
           Doc::list(fmt::format("wrappers::{}::plan(", cpp_identifier(*op.schema)), names, ");").lines(2) + "}\n";
  }
  if (out.empty()) return out;
  return "\nnamespace plans {\n" + out + "}  // namespace plans\n";
}

}  // namespace

std::string emit_wrappers(const Family& family) {
  std::string out = file_banner(family) + "\n" + include_lines(family) +
                    "\n// Functions of wrappers have all arguments of their operator, whether they need them or not.\n"
                    "#pragma GCC diagnostic push\n"
                    "#pragma GCC diagnostic ignored \"-Wunused-parameter\"\n" +
                    counterparts_text(family) + "\n" + open_namespace(family, "") +
                    "\nnamespace wrappers {\nnamespace {\n";
  for (const Op& op : family.ops) out += "\n" + wrapper_struct(op);
  out += "\n}  // namespace\n}  // namespace wrappers\n" + planned_text(family);
  for (const Op& op : family.ops)
    for (const Overload& overload : expand_variants(op)) out += "\n" + table_text(family, op, overload);
  return out + "\n" + close_namespace(family, "") + "\n#pragma GCC diagnostic pop\n";
}

std::string emit_plans(const std::vector<Family>& families) {
  std::string declarations;
  for (const Family& family : families)
    for (const Op& op : family.ops)
      if (op.planned) declarations += plan_declaration(op, ");");
  if (declarations.empty()) return {};
  return header_text(file_banner(families) + "\n// Guard and rule of the operators that contracts call.\n",
                     {"keyway/assembly/plan.h"}, families.front(), "plans", "\n" + declarations);
}

}  // namespace keyway::inline v1
