#include <keyway/core/tensor/geometry.h>
#include <keyway/graph/node_values.h>
#include <keyway/graph/program_text.h>
#include <keyway/graph/value_text.h>

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace keyway::inline v1::graph {
namespace {

bool is_name(std::string_view text) {
  return !text.empty() && detail::is_name_start(text.front()) && std::ranges::all_of(text, detail::is_name);
}

// Writes the lines, and a value's description where it is made; of a program, those of inputs alone.
class Printer {
 public:
  explicit Printer(const Graph& graph, bool is_program = false)
      : graph_(graph), is_program_(is_program), is_made_(graph.values.size()) {}

  std::string text() {
    text_ = fmt::format("graph {}{}", graph_.level == Level::Program ? "program" : "executed",
                        graph_.surroundings.grad_enabled ? "" : " no_grad");
    if (graph_.surroundings.default_dtype != ScalarType::Float)
      text_ += fmt::format(" default_dtype {}", to_string(graph_.surroundings.default_dtype));
    text_ += "(";
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
    if (value == kNoValue || is_made_[index(value)]) return text;
    is_made_[index(value)] = true;
    if (is_program_) return text;
    const Value& what = graph_.values[index(value)];
    text += ": " + to_string(what.info);
    if (what.memory != value) text += " in " + id(what.memory);
    return text;
  }

  void print(const Input& input) {
    if (!text_.ends_with('(')) text_ += ", ";
    std::string name;
    if (!input.name.empty()) name = " " + (is_name(input.name) ? input.name : in_quotes(input.name));
    text_ += made(input.value, name);
    if (is_program_) text_ += ": " + description_in_program(input);
    if (input.grad_of != kNoValue)
      text_ += " grad_of " + id(input.grad_of);
    else if (input.is_state)
      text_ += " state";
    if (input.has_grad) text_ += *input.has_grad ? " with_grad" : " without_grad";
  }

  // Arguments may have any strides.
  std::string description_in_program(const Input& input) const {
    TensorInfo info = info_of(graph_, input.value);
    info.offset = 0;
    if (input.is_state) return to_string(info);
    return to_string(TensorInfo(info.dtype, info.device, info.sizes));
  }

  void print(const Node& node) {
    text_ += "  ";
    const ArgumentList returns = node.op->schema().returns();
    for (std::size_t i = 0; i < node.results.size(); ++i)
      text_ += (i == 0 ? "" : ", ") + result(returns[i], node.results[i]);
    if (!node.results.empty()) text_ += " = ";
    text_ += node.op->full_name() + "(" + indented(arguments_text(node)) + ")";
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

  const Graph& graph_;
  bool is_program_;
  std::vector<bool> is_made_;
  std::string text_;
};

}  // namespace

std::string arguments_text(const Node& node) {
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

std::string to_string(const TensorInfo& info) {
  const IntArrayRef sizes(info.sizes), strides(info.strides);
  std::string text = fmt::format("{}{}", to_string(info.dtype), FormatArg(sizes).str());
  if (strides != IntArrayRef(contiguous_strides(sizes))) text += " stride " + FormatArg(strides).str();
  if (info.offset != 0) text += fmt::format(" offset {}", info.offset);
  if (info.device != Device(DeviceType::CPU)) text += " on " + in_quotes(to_string(info.device));
  if (info.requires_grad) text += " requires_grad";
  return text;
}

std::string to_string(const Graph& graph) { return Printer(graph).text(); }

namespace {

// Memory that inputs share is not shared when they come from a file, or are arguments of their own.
void check_shared_state(const Graph& graph) {
  std::map<ValueId, const Input*> inputs;  // by memory
  std::set<ValueId> shared;
  for (const Input& input : graph.inputs) {
    const auto [other, is_new] = inputs.emplace(memory_of(graph, input.value), &input);
    if (!is_new) shared.insert(other->first);
  }
  for (const Node& node : graph.nodes) {
    for_each_written(node, [&](ValueId id) {
      const ValueId memory = memory_of(graph, id);
      KEYWAY_CHECK(!shared.contains(memory),
                   "a program cannot write to '{}', which shares memory with another of its inputs",
                   inputs[memory]->name);
    });
  }
}

}  // namespace

std::string program_text(const Graph& graph) {
  KEYWAY_CHECK(graph.level == Level::Program, "a program is made of a graph of the level 'program'");
  KEYWAY_CHECK(graph.grads.empty(), "a program cannot leave gradients in leaves: return them");
  std::set<ValueId> values;
  for (const Input& input : graph.inputs) {
    KEYWAY_CHECK(values.insert(input.value).second,
                 "a program is captured with as many tensors as it has arguments, "
                 "and '{}' is another one, too",
                 input.name);
    KEYWAY_CHECK(input.grad_of == kNoValue && !input.has_grad, "a program cannot use the gradients of leaves");
  }
  check_shared_state(graph);
  return Printer(graph, true).text();
}

}  // namespace keyway::inline v1::graph
