#include <keyway/codegen/emit/autograd_text.h>
#include <keyway/codegen/emit/cpp_text.h>
#include <keyway/codegen/emit/emitter.h>
#include <keyway/codegen/emit/registrations.h>
#include <keyway/core/schema/printer.h>

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace keyway::inline v1 {
namespace {

bool has_kernels(const Op& op, const Overload& overload) {
  return has_autograd_kernel(op, overload) || has_adinplace_kernel(op, overload);
}

// The node and the recorders of an operator.
std::string recording_text(const Op& op, const AutogradPlan& plan, const std::vector<Overload>& overloads,
                           const std::string& file) {
  std::string out = "\n" + comment(to_string(*op.schema)) + node_text(op, plan, file);
  for (const Overload& overload : overloads)
    if (has_recorder(op, overload)) out += "\n" + recorder_text(op, plan, overload);
  return out;
}

std::string kernels_text(const Op& op, const AutogradPlan& plan, const std::vector<Overload>& overloads) {
  std::string out;
  for (const Overload& overload : overloads)
    if (has_kernels(op, overload))
      out += "\n" + comment(to_string(*overload.schema)) + kernel_texts(op, plan, overload);
  return out;
}

// Puts the line that follows in place of every kLineBack.
std::string with_lines(std::string_view text, const std::string& path) {
  std::string out;
  int line = 1;
  while (!text.empty()) {
    const std::size_t size = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view one = text.substr(0, size);
    out += one == kLineBack ? fmt::format("#line {} \"{}\"\n", line + 1, path) : std::string(one);
    text.remove_prefix(size);
    ++line;
  }
  return out;
}

}  // namespace

std::string emit_autograd(const Family& family) {
  std::string recording;
  std::string kernels;
  std::map<std::string, int> nodes;
  for (const Op& op : family.ops) {
    const auto overloads = expand_variants(op);
    AutogradPlan plan = autograd_plan(op);
    if (std::ranges::any_of(overloads, [&](const Overload& overload) { return has_recorder(op, overload); })) {
      const int count = ++nodes[plan.node];
      if (count > 1) plan.node += fmt::to_string(count);
      recording += recording_text(op, plan, overloads, family.file);
    }
    kernels += kernels_text(op, plan, overloads);
  }
  if (kernels.empty()) return {};
  std::string out = file_banner(family);
  out +=
      includes({own_header(family, "autograd/helpers.h"), own_header(family, "autograd/kernels_{}.h"),
                "keyway/autograd/generated_kernels.h", "keyway/dispatch/call/call.h", own_header(family, "ops/all.h")});
  out += "\n" + open_namespace(family, "autograd");
  if (!family.library.empty()) out += "using namespace keyway::autograd;\n";
  if (!recording.empty()) out += "\nnamespace {\n" + recording + "\n}  // namespace\n";
  out += kernels + "\n" + close_namespace(family, "autograd");
  return with_lines(out, own_header(family, "autograd/{}.cpp"));
}

std::string emit_autograd_kernels(const Family& family) {
  std::string declarations;
  for (const Op& op : family.ops) {
    std::string text;
    for (const Overload& overload : expand_variants(op)) text += kernel_declarations(op, overload);
    if (!text.empty()) declarations += "\n" + comment(to_string(*op.schema)) + text;
  }
  if (declarations.empty()) return {};
  return header_text(file_banner(family) + "// Kernels at Autograd and, adinplace_, at ADInplaceOrView.\n",
                     {"keyway/dispatch/call/kernel.h", "keyway/dispatch/call/signature.h"}, family, "autograd",
                     declarations);
}

}  // namespace keyway::inline v1
