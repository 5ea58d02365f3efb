#include <keyway/core/base/error.h>
#include <keyway/core/schema/lexer.h>
#include <keyway/graph/effects.h>
#include <keyway/graph/parse.h>
#include <keyway/onnx/export/builder.h>
#include <keyway/onnx/export/expand.h>
#include <keyway/onnx/export/source.h>

#include <algorithm>
#include <optional>

namespace keyway::inline v1::onnx::exporter {

using graph::Dimensions;
using graph::Graph;
using graph::Program;

namespace {

// Sizes to look at a program with, wide apart, odd and even; if it has none as large, those below.
constexpr std::int64_t kWide[] = {9, 18, 35, 52, 81, 102, 131, 166};
constexpr std::int64_t kNarrow[] = {2, 3, 4, 5, 6, 7, 8, 9};

// The program for several sizes of its dimensions.
struct Looks {
  std::vector<Dimensions> sizes;
  std::vector<Graph> graphs;
  std::int64_t lowest = 0, highest = 0;
};

// As many as there are among `sizes`, but `count` at most.
Looks looks_at(const Program& program, ArrayRef<std::int64_t> sizes, std::size_t count) {
  const std::vector<std::string> names = program.dimensions();
  Looks looks;
  std::optional<Error> problem;
  for (std::size_t i = 0; i < sizes.size() && looks.graphs.size() < count; ++i) {
    Dimensions its_sizes;
    for (std::size_t k = 0; k < names.size(); ++k) its_sizes[names[k]] = sizes[(i * (2 * k + 1) + k) % sizes.size()];
    try {
      looks.graphs.push_back(program.graph(its_sizes));
      looks.sizes.push_back(std::move(its_sizes));
    } catch (const Error& error) {
      problem = error;
    }
  }
  if (looks.graphs.empty() && problem) throw Error(*problem);
  looks.lowest = sizes.front();
  looks.highest = sizes.back();
  return looks;
}

Looks looks_at(const Program& program, std::size_t count) {
  if (program.dimensions().empty()) count = 1;
  try {
    Looks wide = looks_at(program, kWide, count);
    if (wide.graphs.size() == count) return wide;
  } catch (const Error&) {  // those below may do
  }
  return looks_at(program, kNarrow, count);
}

// The program of calls that have nodes.
Program exportable(const Program& program) {
  Looks looks = looks_at(program, 4 + 2 * program.dimensions().size());
  const std::vector<std::string> names = program.dimensions();
  Dimensions lowest, highest;
  for (const std::string& name : names) {
    lowest[name] = looks.lowest;
    highest[name] = looks.highest;
  }
  std::vector<Graph> graphs;
  for (Graph& graph : looks.graphs) graphs.push_back(expanded(std::move(graph)));
  if (names.empty()) return Program(graphs.front());
  while (const std::optional<Dimensions> telling = Program::telling_sizes(graphs, looks.sizes, lowest, highest)) {
    looks.sizes.push_back(*telling);
    graphs.push_back(expanded(program.graph(*telling)));
  }
  return Program(graphs, looks.sizes);
}

// The texts of the arguments of a call, by their places or names.
class ArgumentTexts {
 public:
  explicit ArgumentTexts(std::string_view line) : text_(line.substr(line.find("::"))) {
    at_ = text_.find('(') + 1;
    while (text_[at_] != ')') {
      items_.push_back(item());
      if (text_[at_] == ',') ++at_;
    }
  }
  // A text for each argument of the schema; empty for a default.
  std::vector<std::string_view> of(const ArgumentList& schema) const {
    std::vector<std::string_view> texts(schema.size());
    for (std::size_t i = 0; i < items_.size(); ++i) {
      detail::Lexer lexer(items_[i]);
      const std::string_view word = lexer.text();
      const bool is_named = lexer.accept(detail::TokenKind::Name) && lexer.at('=');
      if (!is_named)
        texts.at(i) = items_[i];
      else if (const auto at = schema.find(word))
        texts[*at] = items_[i].substr(lexer.token().end);
    }
    return texts;
  }

  // The elements of "[a, b]"; the text itself if it is no list.
  static std::vector<std::string> elements(std::string_view text) {
    while (text.starts_with(' ')) text.remove_prefix(1);
    if (!text.starts_with('[')) return {std::string(text)};
    ArgumentTexts list;
    list.text_ = text;
    list.at_ = 1;
    std::vector<std::string> elements;
    while (text[list.at_] != ']') {
      elements.emplace_back(list.item());
      if (text[list.at_] == ',') ++list.at_;
    }
    return elements;
  }

 private:
  ArgumentTexts() = default;
  // What stands before the next comma, or the bracket that closes.
  std::string_view item() {
    const std::size_t begin = at_;
    for (int depth = 0; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\'') {
        for (++at_; text_[at_] != '\''; ++at_) at_ += text_[at_] == '\\' ? 1 : 0;
      } else if (c == '(' || c == '[') {
        ++depth;
      } else if (depth > 0 && (c == ')' || c == ']')) {
        --depth;
      } else if (depth == 0 && (c == ')' || c == ']' || c == ',')) {
        break;
      }
    }
    return text_.substr(begin, at_ - begin);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<std::string_view> items_;
};

// Of a program whose calls take no graphs: a line is a call.
void add_formulas(const std::string& text, Source& source) {
  std::size_t begin = text.find('\n') + 1;
  for (std::size_t call = 0; call < source.graph.nodes.size(); ++call) {
    const std::size_t end = text.find('\n', begin);
    const ArgumentList schema = source.graph.nodes[call].op->schema().arguments();
    const std::vector<std::string_view> texts =
        ArgumentTexts(std::string_view(text).substr(begin, end - begin)).of(schema);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const bool has_numbers = !texts[i].empty() && texts[i].find_first_of("%'") == std::string_view::npos;
      if (!has_numbers) continue;
      std::vector<std::string> elements = ArgumentTexts::elements(texts[i]);
      const auto has_name = [&](const std::string& element) {
        const std::vector<std::string> names = names_in(element);
        return !names.empty() && std::ranges::all_of(names, [&](const std::string& name) {
          return std::ranges::find(source.dimensions, name) != source.dimensions.end();
        });
      };
      if (std::ranges::any_of(elements, has_name)) source.formulas[{call, i}] = std::move(elements);
    }
    begin = end + 1;
  }
}

// The size as it is in all looks: fixed, a dimension, or something else.
std::string common_size(const Looks& looks, std::size_t value, std::size_t dim) {
  const auto size = [&](std::size_t look) { return looks.graphs[look].values[value].info.sizes[dim]; };
  bool is_fixed = true;
  for (std::size_t look = 1; look < looks.graphs.size(); ++look) is_fixed = is_fixed && size(look) == size(0);
  if (is_fixed) return std::to_string(size(0));
  for (const auto& [name, its_size] : looks.sizes.front()) {
    bool is_dimension = true;
    for (std::size_t look = 0; look < looks.graphs.size(); ++look)
      is_dimension = is_dimension && size(look) == looks.sizes[look].at(name);
    if (is_dimension) return name;
  }
  return {};
}

Source source_of_exportable(const Program& program) {
  Looks looks = looks_at(program, 4);
  Source source;
  source.dimensions = program.dimensions();
  for (std::size_t value = 0; value < looks.graphs[0].values.size(); ++value) {
    source.sizes.emplace_back();
    const std::size_t rank = looks.graphs[0].values[value].info.sizes.size();
    for (std::size_t dim = 0; dim < rank; ++dim) source.sizes.back().push_back(common_size(looks, value, dim));
  }
  const graph::Signature signature = graph::parse_signature(program.text());
  for (std::size_t i = 0; i < signature.inputs.size(); ++i)
    source.sizes[static_cast<std::size_t>(looks.graphs[0].inputs[i].value)] = signature.inputs[i].sizes;
  source.graph = std::move(looks.graphs[0]);
  source.is_used.resize(source.graph.values.size());
  const auto use = [&](graph::ValueId id) { source.is_used[graph::index(id)] = true; };
  for (const graph::Node& node : source.graph.nodes) graph::for_each_argument(node, use);
  graph::for_each_left(source.graph, use);
  add_formulas(program.text(), source);
  return source;
}

}  // namespace

Source source_of(const Program& program) {
  const Looks look = looks_at(program, 1);
  return is_exportable(look.graphs[0]) ? source_of_exportable(program) : source_of_exportable(exportable(program));
}

}  // namespace keyway::inline v1::onnx::exporter
