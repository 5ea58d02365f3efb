#include <keyway/core/dtype/scalar_type.h>
#include <keyway/core/tensor/geometry.h>
#include <keyway/dispatch/call/default_argument.h>
#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/graph/control_flow.h>
#include <keyway/graph/graph.h>
#include <keyway/graph/subgraph.h>
#include <keyway/graph/value_text.h>

#include <fmt/format.h>

namespace keyway::inline v1::graph {

namespace {

// Reads a graph line by line.
class Parser {
 public:
  // `depth`: how many graphs it is in.
  explicit Parser(std::string_view text, int depth = 0) : rest_(text), depth_(depth) {
    KEYWAY_CHECK_AS(Parse, depth <= kMostNested, "graphs lie in one another, {} and more", kMostNested);
    register_control_flow();
  }

  Graph parse() {
    try {
      parse_header(next_line());
      for (std::string_view line = next_line(); !line.starts_with("return"); line = next_line()) {
        if (line.starts_with("grad("))
          parse_grad(line);
        else
          parse_node(line);
      }
      parse_return(line_);
      if (next_line() != "}") KEYWAY_FAIL(Parse, "'}}' is missing behind the return");
      if (!next_line().empty()) KEYWAY_FAIL(Parse, "there is something behind the graph");
    } catch (const Error& error) {
      KEYWAY_FAIL(Parse, "graph, line {}: {}", number_, error.message());
    }
    check(graph_);
    return std::move(graph_);
  }

 private:
  // Without white space around it; empty at the end. Lines that are empty are left out.
  std::string_view next_line() {
    for (line_ = {}; line_.empty() && !rest_.empty(); ++number_) {
      const std::size_t end = std::min(rest_.find('\n'), rest_.size());
      line_ = rest_.substr(0, end);
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      while (!line_.empty() && line_.front() == ' ') line_.remove_prefix(1);
      while (!line_.empty() && (line_.back() == ' ' || line_.back() == '\r')) line_.remove_suffix(1);
    }
    return line_;
  }

  static void expect_word(detail::Lexer& lexer, std::string_view word) {
    if (lexer.text() != word) KEYWAY_FAIL(Parse, "'{}' is missing before {}", word, found(lexer));
    lexer.advance();
  }
  static bool accept_word(detail::Lexer& lexer, std::string_view word) {
    if (lexer.text() != word) return false;
    lexer.advance();
    return true;
  }

  void parse_header(std::string_view line) {
    detail::Lexer lexer(line);
    expect_word(lexer, "graph");
    if (accept_word(lexer, "program"))
      graph_.level = Level::Program;
    else
      expect_word(lexer, "executed");
    graph_.surroundings = Surroundings::now();
    graph_.surroundings.grad_enabled = !accept_word(lexer, "no_grad");
    expect(lexer, '(');
    while (!lexer.accept(')')) {
      if (!graph_.inputs.empty()) expect(lexer, ',');
      parse_input(lexer);
    }
    expect(lexer, '{');
  }

  void parse_input(detail::Lexer& lexer) {
    Input input{parse_value_id(lexer)};
    if (lexer.at(detail::TokenKind::String)) {
      input.name = parse_string(lexer);
    } else if (lexer.at(detail::TokenKind::Name) && lexer.text() != "state") {
      input.name = std::string(lexer.text());
      lexer.advance();
    }
    parse_description(lexer, input.value);
    if (accept_word(lexer, "grad_of")) input.grad_of = parse_value_id(lexer);
    input.is_state = input.grad_of != kNoValue || accept_word(lexer, "state");
    if (accept_word(lexer, "with_grad"))
      input.has_grad = true;
    else if (accept_word(lexer, "without_grad"))
      input.has_grad = false;
    graph_.inputs.push_back(std::move(input));
  }

  // ": float32[2, 3] in %0" of a new value; nothing of one that is there.
  void parse_description(detail::Lexer& lexer, ValueId id) {
    const auto count = static_cast<ValueId>(graph_.values.size());
    if (!lexer.accept(':')) {
      if (id < 0 || id >= count) KEYWAY_FAIL(Parse, "%{} is not made yet, and nothing says what it is", id);
      return;
    }
    if (id != count) KEYWAY_FAIL(Parse, "the next value is %{}, not %{}", count, id);
    Value value{parse_info(lexer), id};
    if (accept_word(lexer, "in")) value.memory = parse_value_id(lexer);
    graph_.values.push_back(std::move(value));
  }

  static TensorInfo parse_info(detail::Lexer& lexer) {
    const ScalarType dtype = parse_dtype(lexer.text());
    lexer.advance();
    TensorInfo info(dtype, DeviceType::CPU, parse_ints(lexer));
    if (accept_word(lexer, "stride")) info.strides = parse_ints(lexer);
    if (info.strides.size() != info.sizes.size()) KEYWAY_FAIL(Parse, "there are as many strides as sizes");
    if (accept_word(lexer, "offset")) info.offset = parse_int(lexer);
    if (accept_word(lexer, "on")) info.device = Device(parse_string(lexer));
    info.requires_grad = accept_word(lexer, "requires_grad");
    return info;
  }

  // "grad(%1) = %4"
  void parse_grad(std::string_view line) {
    detail::Lexer lexer(line);
    expect_word(lexer, "grad");
    expect(lexer, '(');
    const ValueId leaf = parse_value_id(lexer);
    expect(lexer, ')');
    expect(lexer, '=');
    graph_.grads.push_back({leaf, accept_word(lexer, "None") ? kNoValue : parse_value_id(lexer)});
    if (!lexer.at(detail::TokenKind::End)) KEYWAY_FAIL(Parse, "there is {} behind the gradient", found(lexer));
  }

  // A call that takes graphs goes on over several lines: gives it as one, in which a text in quotes stands for each
  // graph, its number among nested_.
  std::string joined(std::string_view first) {
    nested_.clear();
    std::string line(first);
    while (line.ends_with('{')) {
      const std::size_t program = line.rfind("graph program"), executed = line.rfind("graph executed");
      const std::size_t begin =
          program == std::string::npos || (executed != std::string::npos && executed > program) ? executed : program;
      if (begin == std::string::npos) KEYWAY_FAIL(Parse, "a line ends with '{{' and begins no graph");
      std::string text = line.substr(begin) + "\n";
      std::string_view next = next_line();
      for (int open = 1;; next = next_line()) {
        if (next.empty()) KEYWAY_FAIL(Parse, "the end of a graph within a call is missing");
        open -= next.starts_with('}') ? 1 : 0;
        if (open == 0) break;
        text += std::string(next) + "\n";
        open += next.ends_with('{') ? 1 : 0;
      }
      nested_.push_back(Parser(text + "}", depth_ + 1).parse());
      line = line.substr(0, begin) + in_quotes(std::to_string(nested_.size() - 1)) + std::string(next.substr(1));
    }
    return line;
  }

  void parse_node(std::string_view first) {
    if (first.empty() || first == "}") KEYWAY_FAIL(Parse, "the return is missing");
    const std::string whole = joined(first);
    std::string_view line = whole;
    std::string_view results;
    if (!detail::is_name_start(line.front()) || line.starts_with("None")) {
      const std::size_t equals = line.find('=');
      if (equals == std::string_view::npos) KEYWAY_FAIL(Parse, "'=' is missing behind the results");
      results = line.substr(0, equals);
      line.remove_prefix(equals + 1);
    }
    while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
    const std::size_t open = line.find('(');
    if (open == std::string_view::npos) KEYWAY_FAIL(Parse, "'(' is missing behind the operator");
    Node node{&Dispatcher::singleton().op(line.substr(0, open)).entry(), {}, {}};
    line.remove_prefix(open);
    detail::Lexer lexer(line);
    parse_arguments(lexer, node);
    parse_results(results, node);
    std::string_view rest = line.substr(lexer.previous_end());
    node.no_grad = rest.starts_with(" no_grad");
    if (node.no_grad) rest.remove_prefix(8);
    if (rest.starts_with("  # "))
      node.site = std::string(rest.substr(4));
    else if (!rest.empty())
      KEYWAY_FAIL(Parse, "there is '{}' behind the call", rest);
    graph_.nodes.push_back(std::move(node));
  }

  IValue parse_argument(SchemaType type, detail::Lexer& lexer) const {
    if (!type.is(TypeKind::Class)) return parse_value(type, lexer);
    const std::string number = lexer.at(detail::TokenKind::String) ? parse_string(lexer) : "none";
    for (std::size_t i = 0; i < nested_.size(); ++i) {
      if (std::to_string(i) == number) return IValue(make_intrusive<Subgraph>(nested_[i]));
    }
    KEYWAY_FAIL(Parse, "a graph is missing before {}", found(lexer));
  }

  void parse_arguments(detail::Lexer& lexer, Node& node) const {
    const ArgumentList arguments = node.op->schema().arguments();
    std::vector<bool> is_given(arguments.size());
    node.arguments.resize(arguments.size());
    std::size_t positional = 0;
    for (expect(lexer, '('); !lexer.at(')');) {
      if (positional > 0 || std::ranges::find(is_given, true) != is_given.end()) expect(lexer, ',');
      std::size_t at = positional;
      if (positional < node.op->schema().positional_count() && !is_keyword(lexer)) {
        ++positional;
      } else {
        at = parse_keyword(lexer, arguments);
      }
      if (is_given[at]) KEYWAY_FAIL(Parse, "argument '{}' is given twice", arguments[at].name());
      is_given[at] = true;
      node.arguments[at] = parse_argument(arguments[at].type(), lexer);
    }
    lexer.advance();
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (is_given[i]) continue;
      if (!arguments[i].has_default()) KEYWAY_FAIL(Parse, "argument '{}' is missing", arguments[i].name());
      node.arguments[i] = default_argument(arguments[i]);
    }
  }

  // Whether "name=" comes next.
  static bool is_keyword(detail::Lexer lexer) {
    if (!lexer.accept(detail::TokenKind::Name)) return false;
    return lexer.at('=');
  }
  static std::size_t parse_keyword(detail::Lexer& lexer, const ArgumentList& arguments) {
    const std::string name(lexer.text());
    lexer.advance();
    expect(lexer, '=');
    const std::optional<std::size_t> at = arguments.find(name);
    if (!at) KEYWAY_FAIL(Parse, "there is no argument '{}'", name);
    return *at;
  }

  void parse_results(std::string_view text, Node& node) {
    detail::Lexer lexer(text);
    for (const Argument result : node.op->schema().returns()) {
      if (!node.results.empty()) expect(lexer, ',');
      if (!is_of_tensors(result.type()))
        node.results.push_back(parse_value(result.type(), lexer));
      else
        node.results.push_back(result.type().is(TypeKind::List) ? IValue(parse_made_list(lexer)) : parse_made(lexer));
    }
    if (!lexer.at(detail::TokenKind::End)) KEYWAY_FAIL(Parse, "there are more results than the operator has");
  }
  IValue parse_made(detail::Lexer& lexer) {
    const ValueId id = parse_made_id(lexer);
    return id == kNoValue ? IValue() : IValue(id);
  }
  ValueId parse_made_id(detail::Lexer& lexer) {
    if (accept_word(lexer, "None")) return kNoValue;
    const ValueId id = parse_value_id(lexer);
    parse_description(lexer, id);
    return id;
  }
  std::vector<ValueId> parse_made_list(detail::Lexer& lexer) {
    std::vector<ValueId> list;
    for (expect(lexer, '['); !lexer.accept(']');) {
      if (!list.empty()) expect(lexer, ',');
      list.push_back(parse_made_id(lexer));
    }
    return list;
  }

  void parse_return(std::string_view line) {
    detail::Lexer lexer(line);
    expect_word(lexer, "return");
    expect(lexer, '(');
    while (!lexer.accept(')')) {
      if (!graph_.outputs.empty()) expect(lexer, ',');
      graph_.outputs.push_back(accept_word(lexer, "None") ? kNoValue : parse_value_id(lexer));
    }
  }

  static constexpr int kMostNested = 64;

  std::string_view rest_, line_;
  int depth_;
  std::vector<Graph> nested_;  // of the call that is being read
  std::size_t number_ = 0;
  Graph graph_;
};

}  // namespace

Graph parse(std::string_view text) { return Parser(text).parse(); }

}  // namespace keyway::inline v1::graph
