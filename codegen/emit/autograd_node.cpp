#include <keyway/codegen/base/names.h>
#include <keyway/codegen/emit/autograd_text.h>
#include <keyway/codegen/emit/cpp_formula.h>
#include <keyway/codegen/model/op_scope.h>

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace keyway::inline v1 {
namespace {

// Writes one node. Its lines are those of apply() unless it says otherwise.
class NodeWriter {
 public:
  NodeWriter(const Op& op, const AutogradPlan& plan, const std::string& file)
      : op_(op), plan_(plan), file_(file), only_list_(plan.inputs.size() == 1 && plan.inputs[0].list) {}

  std::string text() const {
    std::string out = fmt::format("struct {} final : Node {{\n", plan_.node);
    out += fmt::format("  std::string name() const override {{ return \"{}\"; }}\n", plan_.title);
    out += apply();
    out += release();
    out += fields();
    return out + "};\n";
  }

 private:
  // --- The parts of the struct

  std::string fields() const {
    std::string out;
    for (const GradField& field : plan_.fields)
      out += fmt::format("  {} {}{};\n", field.type, field.name, field.number ? "{}" : "");
    for (const GradInput& input : plan_.inputs)
      if (input.list && !only_list_) out += fmt::format("  std::size_t {}_size_ = 0;\n", input.name);
    return out.empty() ? out : "\n" + out;
  }

  std::string release() const {
    std::vector<std::string> statements;
    for (const GradField& field : plan_.fields)
      if (field.is_tensor())
        statements.push_back(field.list ? fmt::format("release({});", field.name)
                                        : fmt::format("{}.reset();", field.name));
    if (statements.empty()) return {};
    constexpr std::string_view kHead = "  void release_variables() override {";
    if (statements.size() == 1) return fmt::format("{} {} }}\n", kHead, statements[0]);
    return fmt::format("{}\n    {}\n  }}\n", kHead, joined(statements, "\n    "));
  }

  std::string apply() const {
    const std::string count = number_of_edges();
    if (op_.differentiated().empty())
      return fmt::format("  variable_list apply(variable_list&&) override {{ return variable_list({}); }}\n", count);
    std::string out = "  variable_list apply(variable_list&& grads) override {\n";
    out += fmt::format("    variable_list grad_inputs({});\n", count);
    out += gradients();
    std::set<const Derivative*> done;
    for (const GradInput& input : plan_.inputs)
      if (input.derivative && !input.derivative->is_zero() && done.insert(input.derivative).second)
        out += derivative(*input.derivative);
    return out + "    return grad_inputs;\n  }\n";
  }

  // --- Edges: their numbers, as C++

  std::string number_of_edges() const {
    const bool lists = std::ranges::any_of(plan_.inputs, &GradInput::list);
    return lists ? "next_edges().size()" : fmt::to_string(plan_.inputs.size());
  }

  // The first edge of input i.
  std::string edge(std::size_t i) const {
    std::size_t before = 0;
    std::vector<std::string> parts;
    for (std::size_t k = 0; k < i; ++k) {
      if (plan_.inputs[k].list)
        parts.push_back(plan_.inputs[k].name + "_size_");
      else
        ++before;
    }
    if (before > 0 || parts.empty()) parts.push_back(fmt::to_string(before));
    return joined(parts, " + ");
  }

  std::string list_size(std::size_t i) const {
    return only_list_ ? "grad_inputs.size()" : plan_.inputs[i].name + "_size_";
  }

  std::string needs(std::size_t i) const {
    return plan_.inputs[i].list ? fmt::format("should_compute_any_output(*this, {}, {})", edge(i), list_size(i))
                                : fmt::format("should_compute_output({})", edge(i));
  }

  // --- Gradients of the results

  std::string gradients() const {
    if (plan_.results.size() == 1 && plan_.results[0].list)
      return "    if (!any_defined(grads)) return grad_inputs;\n" + list_gradient(plan_.results[0]);
    std::string out;
    for (std::size_t i = 0; i < plan_.results.size(); ++i) {
      const GradResult& result = plan_.results[i];
      out += result.zeros ? fmt::format("    const Tensor {} = defined_or_zeros(*this, grads, {});\n", result.name, i)
                          : fmt::format("    const Tensor& {} = grads[{}];\n", result.name, i);
    }
    if (plan_.results.size() == 1)
      return out + fmt::format("    if (!{}.defined()) return grad_inputs;\n", plan_.results[0].name);
    return "    if (!any_defined(grads)) return grad_inputs;\n" + out;
  }

  static std::string list_gradient(const GradResult& result) {
    return result.zeros
               ? fmt::format("    const variable_list {} = defined_or_zeros(*this, std::move(grads));\n", result.name)
               : fmt::format("    const variable_list& {} = grads;\n", result.name);
  }

  // Whether any gradient that a formula names is there: the condition of its part of apply(), or "".
  std::string any_gradient(const Derivative& derivative) const {
    const auto named = gradients_of(plan_, op_, derivative);
    if (plan_.results.size() == 1 || named.size() == plan_.results.size()) return {};
    std::vector<std::string> tests;
    for (const std::size_t i : named) tests.push_back(fmt::format("grads[{}].defined()", i));
    const std::string any = joined(tests, " || ");
    return tests.size() > 1 ? fmt::format(" && ({})", any) : " && " + any;
  }

  CppNames names(const Derivative& derivative) const {
    CppNames names;
    for (const GradResult& result : plan_.results) {
      if (result.result == 0) names["grad"] = {result.name};
      for (const std::string& name : result_names(*op_.schema, result.result)) names["grad_" + name] = {result.name};
    }
    names["needs"] = {"needs"};
    for (const SavedValue& value : derivative.saved) {
      const GradField& field = field_of(plan_, value);
      names[to_text(*value.expr)] = field.is_tensor() ? CppName{local(field)} : CppName{field.name, field.optional};
    }
    return names;
  }

  // --- One formula

  // A saved tensor in apply(): the formula's name for it, unless apply() has its own use for that.
  std::string local(const GradField& field) const {
    constexpr std::string_view kOwn[] = {"grad_inputs", "gradients", "grads", "needs"};
    std::string name = to_text(*field.expr);
    if (contains(kOwn, name)) name = free_name(plan_, field.name);
    return name;
  }

  std::string unpacked(const Derivative& derivative) const {
    std::string out;
    for (const SavedValue& value : derivative.saved) {
      const GradField& field = field_of(plan_, value);
      if (!field.is_tensor()) continue;
      const std::string name = local(field);
      out += field.list ? fmt::format("      const variable_list {} = unpack({}, *this);\n", name, field.name)
                        : fmt::format("      const Tensor {} = {}.unpack(*this);\n", name, field.name);
    }
    return out;
  }

  // To compilers and debuggers the formula stands where it is written. One that takes several lines counts on.
  std::string line(const Derivative& derivative) const {
    return fmt::format("#line {} \"{}\"\n", derivative.formula.text.place.line, file_);
  }

  std::string derivative(const Derivative& derivative) const {
    const auto inputs = inputs_of(plan_, derivative);
    const CheckedExpr& expr = derivative.formula.expr;
    const Doc formula = cpp_formula(expr, expr.root(), names(derivative));
    if (inputs.size() > 1) return joint(derivative, inputs, formula);
    const std::size_t input = inputs.front();
    std::string out = fmt::format("    if ({}{}) {{\n", needs(input), any_gradient(derivative));
    out += unpacked(derivative) + line(derivative) + put(input, formula);
    return out + std::string(kLineBack) + "    }\n";
  }

  // What becomes of the gradient of an input.
  std::string put(std::size_t input, const Doc& gradient) const {
    if (plan_.inputs[input].list)
      return Doc::list("put(", {"grad_inputs", edge(input), list_size(input), gradient}, ");").lines(6);
    return (Doc::assignment(fmt::format("grad_inputs[{}]", edge(input)), gradient) + ";").lines(6);
  }

  std::string joint(const Derivative& derivative, const std::vector<std::size_t>& inputs, const Doc& formula) const {
    std::vector<std::string> wanted;
    for (const std::size_t input : inputs) wanted.push_back(needs(input));
    std::string out =
        Doc::list(fmt::format("if (const std::array<bool, {}> needs{{", inputs.size()), wanted, "};").lines(4) +
        fmt::format("        any(needs){}) {{\n", any_gradient(derivative));
    out += unpacked(derivative) + line(derivative);
    out += (Doc::assignment("auto gradients", formula) + ";").lines(6) + std::string(kLineBack);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      out += put(inputs[i], fmt::format("std::move(std::get<{}>(gradients))", i));
    return out + "    }\n";
  }

  const Op& op_;
  const AutogradPlan& plan_;
  const std::string& file_;
  const bool only_list_;
};

}  // namespace

std::string node_text(const Op& op, const AutogradPlan& plan, const std::string& file) {
  return NodeWriter(op, plan, file).text();
}

}  // namespace keyway::inline v1
