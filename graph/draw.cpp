#include <keyway/core/base/number_text.h>
#include <keyway/graph/draw.h>
#include <keyway/graph/links.h>
#include <keyway/graph/node_values.h>
#include <keyway/graph/value_text.h>

#include <cmath>
#include <fmt/format.h>
#include <string_view>

namespace keyway::inline v1::graph {
namespace {

#include <keyway/graph/page.inc>

// How long a character of UTF-8 is that the text begins with; 0 if it begins with none.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const std::size_t length = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first >= 0x80 && (first < 0xc2 || first > 0xf4 || text.size() < length)) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const bool is_longer_than_needed = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  const bool is_no_code_point = (first == 0xed && byte(1) >= 0xa0) || (first == 0xf4 && byte(1) >= 0x90);
  return is_longer_than_needed || is_no_code_point ? 0 : length;
}

// The text with escape(c) for each character of ASCII, and what is no UTF-8 replaced.
template <typename Escape>
std::string escaped(std::string_view text, Escape&& escape) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    if (length == 0)
      result += "\xef\xbf\xbd";
    else if (length == 1)
      result += escape(text.front());
    else
      result += text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return result;
}

// As a string of JSON, which may stand in HTML: without '<', no tag, comment or end of a script is in it.
std::string json(std::string_view text) {
  return '"' +
         escaped(text,
                 [](char c) {
                   const bool is_plain =
                       c >= ' ' && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&' && c != 0x7f;
                   return is_plain ? std::string(1, c) : fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
                 }) +
         '"';
}

// As a string of DOT.
std::string dot(std::string_view text) {
  return '"' +
         escaped(text,
                 [](char c) {
                   if (c == '"' || c == '\\') return std::string{'\\', c};
                   return c == '\n' ? "\\n" : std::string(1, c < ' ' || c == 0x7f ? '?' : c);
                 }) +
         '"';
}

std::string made_text(const Graph& graph, ValueId id) {
  if (id == kNoValue) return "None";
  return fmt::format("%{}: {}", id, to_string(info_of(graph, id)));
}

std::string_view kind_of(const Input& input) {
  return input.grad_of != kNoValue ? "gradient" : input.is_state ? "state" : "input";
}

// Of an input: the name that it has, or its number.
std::string name_of(const Graph& graph, ValueId id) {
  for (const Input& input : graph.inputs) {
    if (input.value == id && !input.name.empty()) return input.name;
  }
  return fmt::format("%{}", id);
}

std::string title_of(const Graph& graph, const Input& input) {
  return input.grad_of == kNoValue ? name_of(graph, input.value) : "grad of " + name_of(graph, input.grad_of);
}

struct End {
  std::string name;
  ValueId value;
};

// Leaf gradients, then outputs.
std::vector<End> ends_of(const Graph& graph) {
  std::vector<End> ends;
  for (const LeafGrad& grad : graph.grads) ends.push_back({"grad of " + name_of(graph, grad.leaf), grad.grad});
  for (std::size_t i = 0; i < graph.outputs.size(); ++i)
    ends.push_back({fmt::format("result {}", i), graph.outputs[i]});
  return ends;
}

// "[1,2]", of whatever has been made text.
template <typename List, typename Text>
std::string array(const List& list, Text&& text) {
  std::string all;
  for (const auto& item : list) {
    if (!all.empty()) all += ',';
    all += text(item);
  }
  return '[' + all + ']';
}

std::string ids(const std::vector<ValueId>& list) {
  return array(list, [](ValueId id) { return fmt::format("{}", id); });
}

// Writes what the page's script reads.
class Data {
 public:
  Data(const Graph& graph, const Timings& timings) : graph_(graph), timings_(timings) {}

  std::string text() const {
    std::string text = fmt::format("{{\"values\":{},\n\"inputs\":{},\n\"calls\":[",
                                   array(graph_.values, [this](const Value& value) { return data_of(value); }),
                                   array(graph_.inputs, [this](const Input& input) { return data_of(input); }));
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) text += (i == 0 ? "\n" : ",\n") + data_of(i);
    text += "],\n\"ends\":" + array(ends_of(graph_), [](const End& end) {
              return fmt::format("{{\"name\":{},\"value\":{}}}", json(end.name), end.value);
            });
    text += ",\n\"links\":" + array(links_of(graph_), [](const Link& link) {
              return fmt::format("[{},{},{},{}]", link.from, link.to, link.value, link.by_memory ? 1 : 0);
            });
    if (timings_.plan) text += fmt::format(",\n\"plan\":{}", number(*timings_.plan));
    return text + "}";
  }

 private:
  // JSON has no infinity.
  static std::string number(double x) { return std::isfinite(x) ? detail::python_repr(x) : "1e308"; }

  std::string data_of(const Value& value) const {
    const auto its = static_cast<ValueId>(&value - graph_.values.data());
    return fmt::format("{{\"text\":{},\"bytes\":{}{}}}", json(to_string(value.info)), number(bytes_of(value.info)),
                       value.memory == its ? "" : fmt::format(",\"memory\":{}", value.memory));
  }

  std::string data_of(const Input& input) const {
    return fmt::format("{{\"value\":{},\"kind\":\"{}\",\"name\":{}}}", input.value, kind_of(input),
                       json(title_of(graph_, input)));
  }

  std::string arguments(const Node& node) const {
    const ArgumentList arguments = node.op->schema().arguments();
    std::string all;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (is_default(arguments[i], node.arguments[i])) continue;
      if (!all.empty()) all += ',';
      all += fmt::format("[{},{}]", json(arguments[i].name()), json(text_of(arguments[i].type(), node.arguments[i])));
    }
    return '[' + all + ']';
  }

  std::string data_of(std::size_t call) const {
    const Node& node = graph_.nodes[call];
    const CallValues values(node);
    std::string text = fmt::format("{{\"op\":{},\"kind\":\"{}\",\"arguments\":{},\"in\":{},\"out\":{},\"bytes\":{}",
                                   json(node.op->full_name()), to_string(graph::kind_of(graph_, node)), arguments(node),
                                   ids(values.given), ids(values.made), number(bytes_moved(graph_, node)));
    if (!values.written.empty()) text += ",\"written\":" + ids(values.written);
    if (!node.site.empty()) text += ",\"site\":" + json(node.site);
    if (!node.op->info().doc.empty()) text += ",\"doc\":" + json(node.op->info().doc);
    if (!timings_.calls.empty()) text += ",\"seconds\":" + number(timings_.calls[call]);
    return text + "}";
  }

  const Graph& graph_;
  const Timings& timings_;
};

std::string level_of(const Graph& graph) { return graph.level == Level::Program ? "program" : "executed"; }

}  // namespace

std::string to_dot(const Graph& graph) {
  std::string text =
      "digraph keyway {\n  node [shape=box, style=\"rounded,filled\", fontname=monospace, fontsize=11];\n"
      "  edge [fontname=monospace, fontsize=9];\n";
  std::size_t item = 0;
  const auto box = [&](const std::string& label, std::string_view colour, const std::string& more = {}) {
    text += fmt::format("  n{} [label={}, fillcolor=\"{}\"{}];\n", item++, dot(label), colour, more);
  };
  for (const Input& input : graph.inputs)
    box(title_of(graph, input) + "\n" + made_text(graph, input.value), input.is_state ? "#fdf0c8" : "#d3f2e6",
        ", shape=ellipse");
  for (const Node& node : graph.nodes) {
    const CallKind kind = kind_of(graph, node);
    const std::string_view colour = kind == CallKind::View        ? "#eceff3"
                                    : kind == CallKind::Write     ? "#fbdccb"
                                    : kind == CallKind::Pointwise ? "#d6e8fb"
                                                                  : "#e4defc";
    const std::string site = node.site.empty() ? "" : ", tooltip=" + dot(node.site);
    box(node.op->full_name() + (node.site.empty() ? "" : "\n" + node.site), colour, site);
  }
  for (const End& end : ends_of(graph)) box(end.name, "#fbd7e6", ", shape=ellipse");
  for (const Link& link : links_of(graph)) {
    text += fmt::format("  n{} -> n{} [label={}{}];\n", link.from, link.to, dot(made_text(graph, link.value)),
                        link.by_memory ? ", style=dashed" : "");
  }
  return text + "}\n";
}

std::string_view page_elements() { return k_elements_js; }

std::string to_html(const Graph& graph, const Timings& timings) {
  KEYWAY_CHECK(timings.calls.empty() || timings.calls.size() == graph.nodes.size(),
               "to_html: there are times of {} calls, but the graph has {}", timings.calls.size(), graph.nodes.size());
  // The page may load nothing, whatever is in it.
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src 'unsafe-inline'\">\n<meta name=\"viewport\" content=\"width=device-width\">\n<title>graph {}, {} "
      "calls</title>\n"
      "<style>\n{}</style></head><body>\n{}<script type=\"application/json\" id=\"graph\">{}</script>\n"
      "<script>\n{}{}</script></body></html>\n",
      level_of(graph), graph.nodes.size(), k_style_css, k_body_html, Data(graph, timings).text(), k_elements_js,
      k_script_js);
}

}  // namespace keyway::inline v1::graph
