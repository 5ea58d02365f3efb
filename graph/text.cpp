#include <keyway/core/tensor/geometry.h>
#include <keyway/graph/graph.h>
#include <keyway/graph/value_text.h>

#include <algorithm>
#include <fmt/format.h>

namespace keyway::inline v1::graph {
namespace {

bool is_name(std::string_view text) {
  return !text.empty() && detail::is_name_start(text.front()) && std::ranges::all_of(text, detail::is_name);
}

// Writes the lines, and a value's description where it is made.
class Printer {
 public:
  explicit Printer(const Graph& graph) : graph_(graph), is_made_(graph.values.size()) {}

  std::string text() {
    text_ = fmt::format("graph {}{}(", graph_.level == Level::Program ? "program" : "executed",
                        graph_.surroundings.grad_enabled ? "" : " no_grad");
    for (const Input& input : graph_.inputs) print(input);
    text_ += ") {\n";
    for (const Node& node : graph_.nodes) print(node);
    for (const LeafGrad& grad : graph_.grads) text_ += fmt::format("  grad({}) = {}\n", id(grad.leaf), id(grad.grad));
    text_ += "  return (";
    for (std::size_t i = 0; i < graph_.outputs.size(); ++i) text_ += (i == 0 ? "" : ", ") + id(graph_.outputs[i]);
    return text_ + ")\n}\n";
  }

 private:
  static std::string id(ValueId value) { return value == kNoValue ? "None" : fmt::format("%{}", value); }

  // With a name behind its number, and what it is, where it is made.
  std::string made(ValueId value, const std::string& name = {}) {
    std::string text = id(value) + name;
    if (value == kNoValue || is_made_[static_cast<std::size_t>(value)]) return text;
    is_made_[static_cast<std::size_t>(value)] = true;
    const Value& what = graph_.values[static_cast<std::size_t>(value)];
    text += ": " + to_string(what.info);
    if (what.memory != value) text += " in " + id(what.memory);
    return text;
  }

  void print(const Input& input) {
    if (!text_.ends_with('(')) text_ += ", ";
    std::string name;
    if (!input.name.empty()) name = " " + (is_name(input.name) ? input.name : in_quotes(input.name));
    text_ += made(input.value, name);
    if (input.grad_of != kNoValue)
      text_ += " grad_of " + id(input.grad_of);
    else if (input.is_state)
      text_ += " state";
    if (input.has_grad) text_ += *input.has_grad ? " with_grad" : " without_grad";
  }

  void print(const Node& node) {
    text_ += "  ";
    const ArgumentList returns = node.op->schema().returns();
    for (std::size_t i = 0; i < node.results.size(); ++i)
      text_ += (i == 0 ? "" : ", ") + result(returns[i], node.results[i]);
    if (!node.results.empty()) text_ += " = ";
    text_ += node.op->full_name() + "(" + indented(arguments(node)) + ")";
    if (node.no_grad && graph_.level == Level::Program) text_ += " no_grad";
    if (!node.site.empty()) text_ += "  # " + node.site;
    text_ += "\n";
  }

  // Of arguments that are graphs, the further lines.
  static std::string indented(std::string text) {
    for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', end + 1))
      text.insert(end + 1, "  ");
    return text;
  }

  std::string result(const Argument& argument, const IValue& value) {
    if (!is_of_tensors(argument.type())) return text_of(argument.type(), value);
    if (value.is_none()) return "None";
    if (value.is(ValueTag::Int)) return made(value.to_int());
    std::string list = "[";
    for (const ValueId item : value.to_int_list()) list += (list.size() == 1 ? "" : ", ") + made(item);
    return list + "]";
  }

  // By position up to the first one that is left out, then by name.
  static std::string arguments(const Node& node) {
    const ArgumentList arguments = node.op->schema().arguments();
    std::string text;
    bool by_name = false;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (is_default(arguments[i], node.arguments[i])) {
        by_name = true;
        continue;
      }
      text += text.empty() ? "" : ", ";
      if (by_name || arguments[i].is_kwarg_only()) text += std::string(arguments[i].name()) + "=";
      text += text_of(arguments[i].type(), node.arguments[i]);
    }
    return text;
  }

  const Graph& graph_;
  std::vector<bool> is_made_;
  std::string text_;
};

}  // namespace

std::string to_string(const TensorInfo& info) {
  const IntArrayRef sizes(info.sizes), strides(info.strides);
  std::string text = fmt::format("{}{}", to_string(info.dtype), FormatArg(sizes).str());
  if (!is_contiguous(sizes, strides)) text += " stride " + FormatArg(strides).str();
  if (info.offset != 0) text += fmt::format(" offset {}", info.offset);
  if (info.device != Device(DeviceType::CPU)) text += " on " + in_quotes(to_string(info.device));
  if (info.requires_grad) text += " requires_grad";
  return text;
}

std::string to_string(const Graph& graph) { return Printer(graph).text(); }

}  // namespace keyway::inline v1::graph
