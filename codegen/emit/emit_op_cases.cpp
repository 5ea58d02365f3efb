// The table of the generated test suite: what the entries say of calls to make, and of what must hold for them.
#include <keyway/codegen/base/names.h>
#include <keyway/codegen/emit/cpp_text.h>
#include <keyway/codegen/emit/emitter.h>
#include <keyway/codegen/emit/registrations.h>
#include <keyway/codegen/model/variants.h>

#include <fmt/format.h>

namespace keyway::inline v1 {
namespace {

std::vector<std::string> tensor_arguments(FunctionSchema schema) {
  std::vector<std::string> names;
  for (const Argument argument : schema.arguments())
    if (argument.type().is(TypeKind::Tensor)) names.emplace_back(argument.name());
  return names;
}

// The a and b of broadcastable(a.sizes(), b.sizes()).
std::vector<std::string> broadcast_in(const Expr& contract) {
  const auto* call = as<CallExpr>(contract);
  if (call == nullptr || call->function != "broadcastable") return {};
  std::vector<std::string> names;
  for (const CallArgument& argument : call->arguments) {
    const auto* sizes = as<MethodExpr>(*argument.value);
    const auto* name = sizes != nullptr && sizes->method == "sizes" ? as<NameExpr>(*sizes->object) : nullptr;
    if (name == nullptr) return {};
    names.push_back(name->name);
  }
  return names;
}

std::vector<std::string> broadcasts(const Op& op) {
  if (op.recipe.kind == RecipeKind::Pointwise) return tensor_arguments(*op.schema);
  for (const Formula& contract : op.contracts)
    if (auto names = broadcast_in(contract.expr.root()); !names.empty()) return names;
  return {};
}

// A field that is a string of lines.
std::string lines_text(std::string_view name, const std::vector<std::string>& lines) {
  if (lines.empty()) return {};
  std::string out = fmt::format("     .{} =\n", name);
  for (const std::string& line : lines)
    out += (Doc::literal(line + "\n", 4) + (&line == &lines.back() ? "," : "")).lines(8);
  return out;
}

std::string case_text(const Op& op) {
  std::vector<std::string> domain, samples{op.example.text.text}, failing;
  for (const Formula& formula : op.domain) domain.push_back(to_text(formula.expr.root()));
  for (const Example& sample : op.samples) {
    samples.push_back(sample.text.text);
    if (sample.error.empty()) continue;
    failing.push_back(sample.text.text + "  " + sample.error);
    samples.pop_back();
  }
  std::string out = "    {\n";
  const auto field = [&](std::string_view name, const std::string& text) {
    if (!text.empty()) out += (Doc::assignment(fmt::format(".{}", name), Doc::literal(text)) + ",").lines(5);
  };
  for (const Overload& overload : expand_variants(op)) {
    constexpr std::string_view kFields[] = {"op", "inplace", "out"};
    field(kFields[static_cast<int>(overload.kind)], qualified_name(*overload.schema));
  }
  field("recipe", std::string(to_string(op.recipe.kind)));
  field("broadcasts", joined(broadcasts(op), " "));
  field("derivatives", joined(op.differentiated(), " "));
  if (!is_below_autograd(op)) out += "     .implicit = true,\n";
  return out + lines_text("domain", domain) + lines_text("samples", samples) + lines_text("failing", failing) +
         "    },\n";
}

}  // namespace

std::string emit_op_cases(const std::vector<Family>& families) {
  std::string out = file_banner(families) + "\n" + includes({"keyway/tests/ops/op_cases.h"}) +
                    "\n#include <iterator>\n\nnamespace keyway::inline v1::testing {\n\nnamespace {\n"
                    "constexpr OpCases kCases[] = {\n";
  for (const Family& family : families)
    for (const Op& op : family.ops) out += case_text(op);
  return out +
         "};\n}  // namespace\n\nconst OpCasesList kOpCases{kCases, std::size(kCases)};\n\n"
         "}  // namespace keyway::inline v1::testing\n";
}

}  // namespace keyway::inline v1
