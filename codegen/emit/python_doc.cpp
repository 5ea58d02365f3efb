#include <keyway/codegen/base/names.h>
#include <keyway/codegen/emit/public_api.h>
#include <keyway/codegen/emit/python_calls.h>
#include <keyway/codegen/emit/registrations.h>
#include <keyway/core/schema/lexer.h>

#include <algorithm>
#include <fmt/format.h>

namespace keyway::inline v1 {
namespace {

// A function's tensor `self` is called `input`; a list or a number keeps its name.
std::string in_words_of(const PythonCall& call, std::string text) {
  const auto input = std::ranges::find(call.parameters, "input", &PythonParameter::name);
  if (input == call.parameters.end()) return text;
  for (std::size_t at = text.find("self"); at != std::string::npos; at = text.find("self", at + 1)) {
    const bool begins = at == 0 || !detail::is_name(text[at - 1]);
    const bool ends = at + 4 == text.size() || !detail::is_name(text[at + 4]);
    if (begins && ends) text.replace(at, 4, "input");
  }
  return text;
}

std::string preset_words(std::string_view preset) {
  if (preset == "integers_to_int64") return "The result has the dtype of `self`; int64 for integers and bool.";
  if (preset == "promote") return "The arguments promote to one dtype, which the result has.";
  if (preset == "promote_to_bool") return "The arguments promote to one dtype; the result is bool.";
  if (preset == "promote_to_float")
    return "The arguments promote to one dtype, integers to the default one; the result has it.";
  return "The arguments have one dtype, and the result has it too.";
}

std::vector<std::string> dtype_lines(const DTypes& dtypes) {
  if (!dtypes.preset.empty()) return {preset_words(dtypes.preset)};
  std::vector<std::string> lines;
  for (const DTypeRule& rule : dtypes.rules)
    lines.push_back(fmt::format("Dtype of `{}`: {}", joined(rule.names, "`, `"), to_text(rule.set.expr.root())));
  return lines;
}

std::vector<std::string> shape_lines(const Op& op) {
  const auto tensors = std::ranges::count_if(
      op.schema->arguments(), [](const Argument& argument) { return argument.type().is(TypeKind::Tensor); });
  if (op.recipe.kind == RecipeKind::Pointwise && tensors > 1) return {"The shapes broadcast."};
  if (op.recipe.kind == RecipeKind::View) return {"The result is a view: it shares the memory of `self`."};
  return {};
}

std::vector<std::string> gradient_lines(const Op& op) {
  const std::vector<std::string> names = op.differentiated();
  if (!names.empty()) return {fmt::format("Differentiable in `{}`.", joined(names, "`, `"))};
  if (!is_below_autograd(op)) return {"Differentiable as the operators that it calls are."};
  return {"Not differentiable."};
}

std::vector<std::string> autocast_lines(const Op& op) {
  switch (op.autocast) {
    case AutocastPolicy::None: return {};
    case AutocastPolicy::Lower: return {"Autocast runs it in float16 or bfloat16."};
    case AutocastPolicy::Float32: return {"Autocast runs it in float32."};
    case AutocastPolicy::Promote: return {"Autocast runs it in the widest dtype of its arguments."};
  }
  return {};
}

// An operator and its calls under this name.
std::string section(const PythonName& name, const std::vector<const PythonCall*>& calls) {
  const PythonCall& call = *calls.front();
  std::string out;
  for (const PythonCall* each : calls) out += python_signatures(name, *each);
  std::vector<std::string> lines{(call.kind == OverloadKind::Inplace ? "In place: " : "") + call.op->doc, ""};
  for (const auto& more : {shape_lines(*call.op),
                           dtype_lines(call.op->dtypes),
                           contract_lines(*call.op, ""),
                           gradient_lines(*call.op),
                           autocast_lines(*call.op),
                           {std::string()}})
    lines.insert(lines.end(), more.begin(), more.end());
  for (std::string& line : lines) line = in_words_of(call, std::move(line));
  for (const std::string& line : python_example(name, call)) lines.push_back(line);
  for (const std::string& line : lines) out += line.empty() ? "\n" : "    " + line + "\n";
  return out;
}

}  // namespace

std::string python_docstring(const PythonName& name) {
  std::string out;
  std::vector<const PythonCall*> calls;
  for (std::size_t i = 0; i < name.calls.size(); ++i) {
    calls.push_back(&name.calls[i]);
    if (i + 1 < name.calls.size() && name.calls[i + 1].op == name.calls[i].op) continue;
    out += (out.empty() ? "" : "\n") + section(name, calls);
    calls.clear();
  }
  return out;
}

}  // namespace keyway::inline v1
