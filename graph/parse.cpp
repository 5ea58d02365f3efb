#include <keyway/core/dtype/scalar_type.h>
#include <keyway/core/tensor/geometry.h>
#include <keyway/dispatch/call/default_argument.h>
#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/graph/control_flow.h>
#include <keyway/graph/control_flow_operators.h>
#include <keyway/graph/parse.h>
#include <keyway/graph/value_text.h>

#include <algorithm>
#include <fmt/format.h>

namespace keyway::inline v1::graph {

namespace {

// Of programs, which come from files.
constexpr std::size_t kMaxInputs = 1 << 16, kMaxCalls = 1 << 20;

// What the text is read for.
enum class Reading : std::uint8_t {
  Graph,      // it is one of a graph
  Calls,      // of a program, for its calls
  Signature,  // of a program, for what is known without sizes; calls are checked, and not kept
};

// Reads a graph or a program line by line.
class Parser {
 public:
  // `depth`: how many graphs it is in. A graph within a call of a program has the program's dimensions.
  Parser(std::string_view text, Reading reading, Dimensions dimensions = {}, int depth = 0)
      : reading_(reading), dimensions_(std::move(dimensions)), rest_(text), depth_(depth) {
    KEYWAY_CHECK_AS(Parse, depth <= kMostNested, "graphs lie in one another, {} and more", kMostNested);
    register_control_flow();
  }

  Signature signature() {
    parse_text();
    signature_.default_dtype = graph_.surroundings.default_dtype;
    signature_.outputs = graph_.outputs.size();
    for (const auto& [name, size] : dimensions_) signature_.dimensions.push_back(name);
    return std::move(signature_);
  }
  Graph graph() {
    parse_text();
    check(graph_);
    return std::move(graph_);
  }

 private:
  bool is_of_program() const { return reading_ != Reading::Graph; }

  void parse_text() {
    try {
      parse_header(next_line());
      for (std::string_view line = next_line(); !line.starts_with("return"); line = next_line()) {
        if (line.starts_with("grad(") && !is_of_program())
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
  }

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
    if (is_of_program() || lexer.text() == "program") {
      expect_word(lexer, "program");
      graph_.level = Level::Program;
    } else {
      expect_word(lexer, "executed");
    }
    graph_.surroundings = Surroundings::now();
    graph_.surroundings.grad_enabled = !accept_word(lexer, "no_grad");
    graph_.surroundings.default_dtype =
        accept_word(lexer, "default_dtype") ? parse_dtype_word(lexer) : ScalarType::Float;
    expect(lexer, '(');
    while (!lexer.accept(')')) {
      if (value_count_ > 0) expect(lexer, ',');
      if (is_of_program())
        parse_program_input(lexer, line);
      else
        parse_input(lexer);
    }
    expect(lexer, '{');
    if (!lexer.at(detail::TokenKind::End)) KEYWAY_FAIL(Parse, "there is {} behind the inputs", found(lexer));
  }

  static ScalarType parse_dtype_word(detail::Lexer& lexer) {
    const ScalarType dtype = parse_dtype(lexer.text());
    lexer.advance();
    return dtype;
  }

  void parse_input(detail::Lexer& lexer) {
    Input input = parse_named_input(lexer);
    parse_description(lexer, input.value);
    if (accept_word(lexer, "grad_of")) input.grad_of = parse_value_id(lexer);
    input.is_state = input.grad_of != kNoValue || accept_word(lexer, "state");
    if (accept_word(lexer, "with_grad"))
      input.has_grad = true;
    else if (accept_word(lexer, "without_grad"))
      input.has_grad = false;
    graph_.inputs.push_back(std::move(input));
  }

  void parse_program_input(detail::Lexer& lexer, std::string_view line) {
    if (value_count_ == static_cast<ValueId>(kMaxInputs))
      KEYWAY_FAIL(Parse, "a program has at most {} inputs", kMaxInputs);
    Input input = parse_named_input(lexer);
    if (input.value != value_count_) KEYWAY_FAIL(Parse, "the next input is %{}, not %{}", value_count_, input.value);
    expect(lexer, ':');
    const std::size_t begin = lexer.token().begin;
    std::vector<std::string> sizes;
    TensorInfo info = parse_program_info(lexer, line, sizes);
    const std::string_view description = line.substr(begin, lexer.previous_end() - begin);
    input.is_state = accept_word(lexer, "state");
    if (!input.is_state && has_state_) KEYWAY_FAIL(Parse, "an argument stands behind a state");
    has_state_ = input.is_state;
    ++value_count_;
    if (reading_ == Reading::Calls) {
      graph_.values.push_back({info, input.value});
      graph_.inputs.push_back(std::move(input));
    } else {
      signature_.inputs.push_back(
          {std::move(input.name), input.is_state, std::string(description), std::move(info), std::move(sizes)});
    }
  }

  // An input as far as its name.
  static Input parse_named_input(detail::Lexer& lexer) {
    Input input{parse_value_id(lexer)};
    if (lexer.at(detail::TokenKind::String)) {
      input.name = parse_string(lexer);
    } else if (lexer.at(detail::TokenKind::Name) && lexer.text() != "state") {
      input.name = std::string(lexer.text());
      lexer.advance();
    }
    return input;
  }

  // ": float32[2, 3] in %0" of a new value; nothing of one that is there.
  void parse_description(detail::Lexer& lexer, ValueId id) {
    if (!lexer.accept(':')) {
      if (id >= value_count_) KEYWAY_FAIL(Parse, "%{} is not made yet, and nothing says what it is", id);
      return;
    }
    if (id != value_count_) KEYWAY_FAIL(Parse, "the next value is %{}, not %{}", value_count_, id);
    const ScalarType dtype = parse_dtype_word(lexer);
    std::vector<std::int64_t> sizes = parse_ints(lexer, dimensions_);
    if (!has_sizes_) sizes.assign(sizes.size(), 0);
    Value value{parse_geometry(lexer, dtype, std::move(sizes)), id};
    if (accept_word(lexer, "in")) value.memory = parse_value_id(lexer);
    graph_.values.push_back(std::move(value));
    ++value_count_;
  }

  // With what stands behind the sizes.
  TensorInfo parse_geometry(detail::Lexer& lexer, ScalarType dtype, std::vector<std::int64_t> sizes) const {
    checked_numel(sizes);
    TensorInfo info(dtype, DeviceType::CPU, std::move(sizes));
    if (accept_word(lexer, "stride")) info.strides = parse_ints(lexer, dimensions_);
    if (info.strides.size() != info.sizes.size()) KEYWAY_FAIL(Parse, "there are as many strides as sizes");
    if (accept_word(lexer, "offset")) info.offset = parse_formula(lexer, dimensions_);
    if (accept_word(lexer, "on")) info.device = Device(parse_string(lexer));
    info.requires_grad = accept_word(lexer, "requires_grad");
    if (!has_sizes_) return TensorInfo(dtype, info.device, std::move(info.sizes));
    checked_nbytes(info.sizes, info.strides, info.offset, element_size(dtype));
    return info;
  }

  // The sizes of a program's arguments give the dimensions their names.
  TensorInfo parse_program_info(detail::Lexer& lexer, std::string_view line, std::vector<std::string>& formulas) {
    const ScalarType dtype = parse_dtype_word(lexer);
    std::vector<std::int64_t> sizes;
    for (expect(lexer, '['); !lexer.accept(']');) {
      if (!sizes.empty()) expect(lexer, ',');
      const std::size_t begin = lexer.token().begin;
      if (reading_ == Reading::Signature) add_dimensions(lexer);
      const std::int64_t size = parse_formula(lexer, dimensions_);
      formulas.emplace_back(line.substr(begin, lexer.previous_end() - begin));
      const bool is_open = reading_ == Reading::Signature && !names_in(formulas.back()).empty();
      sizes.push_back(is_open ? 1 : size);
    }
    return parse_geometry(lexer, dtype, std::move(sizes));
  }
  // Those that a formula names.
  void add_dimensions(detail::Lexer lexer) {
    for (; !lexer.at(',') && !lexer.at(']') && !lexer.at(detail::TokenKind::End); lexer.advance()) {
      if (lexer.at(detail::TokenKind::Name)) dimensions_.emplace(lexer.text(), 1);
    }
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
  // graph, its number among nested_. Refers to `whole`, where there are graphs.
  std::string_view joined(std::string_view first, std::string& whole) {
    nested_.clear();
    std::string_view line = first;
    while (line.ends_with('{')) {
      const std::size_t program = line.rfind("graph program"), executed = line.rfind("graph executed");
      const std::size_t begin =
          program == std::string::npos || (executed != std::string::npos && executed > program) ? executed : program;
      if (begin == std::string::npos) KEYWAY_FAIL(Parse, "a line ends with '{{' and begins no graph");
      whole += line.substr(0, begin);
      line = rest_of_nested(line.substr(begin));
      whole += in_quotes(std::to_string(nested_.size() - 1));
    }
    if (nested_.empty()) return line;
    return whole += line;
  }
  // Reads a graph within a call, whose text begins so; gives what stands behind its end in the last line.
  std::string_view rest_of_nested(std::string_view begin) {
    std::string_view next = next_line();
    for (int open = 1;; next = next_line()) {
      if (next.empty()) KEYWAY_FAIL(Parse, "the end of a graph within a call is missing");
      open -= next.starts_with('}') ? 1 : 0;
      if (open == 0) break;
      open += next.ends_with('{') ? 1 : 0;
    }
    add_nested({begin.data(), static_cast<std::size_t>(next.data() + 1 - begin.data())});  // all are of one text
    return next.substr(1);
  }
  void add_nested(std::string_view text) {
    Parser parser(text, Reading::Graph, dimensions_, depth_ + 1);
    parser.has_sizes_ = has_sizes_ && reading_ != Reading::Signature;
    nested_.push_back(parser.graph());
    signature_.operators.merge(parser.signature_.operators);
    for (const Node& node : nested_.back().nodes) signature_.operators.insert(node.op);
  }

  void parse_node(std::string_view first) {
    if (first.empty() || first == "}") KEYWAY_FAIL(Parse, "the return is missing");
    if (is_of_program() && ++call_count_ > kMaxCalls) KEYWAY_FAIL(Parse, "a program has at most {} calls", kMaxCalls);
    std::string whole;
    std::string_view line = joined(first, whole);
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
    Node node{&operator_of(line.substr(0, open)), {}, {}};
    line.remove_prefix(open);
    detail::Lexer lexer(line);
    parse_arguments(lexer, node);
    for_each_value(node.op->schema().arguments(), node.arguments, [&](ValueId id) {
      if (id >= value_count_) KEYWAY_FAIL(Parse, "%{} is used before it is made", id);
    });
    parse_results(results, node);
    std::string_view rest = line.substr(lexer.previous_end());
    node.no_grad = rest.starts_with(" no_grad");
    if (node.no_grad) rest.remove_prefix(8);
    if (rest.starts_with("  # "))
      node.site = std::string(rest.substr(4));
    else if (!rest.empty())
      KEYWAY_FAIL(Parse, "there is '{}' behind the call", rest);
    if (reading_ == Reading::Signature)
      signature_.operators.insert(node.op);
    else
      graph_.nodes.push_back(std::move(node));
  }

  // Who writes a graph by hand is told which name is near; that takes a while, and files may name nothing but
  // strangers.
  const OperatorEntry& operator_of(std::string_view name) const {
    const Dispatcher& dispatcher = Dispatcher::singleton();
    if (!is_of_program()) return dispatcher.op(name).entry();
    const std::optional<OperatorHandle> op = dispatcher.find_op(name);
    if (!op) KEYWAY_FAIL(Parse, "there is no operator '{}'", name);
    return op->entry();
  }

  IValue parse_argument(SchemaType type, detail::Lexer& lexer) const {
    if (!type.is(TypeKind::Class)) return parse_value(type, lexer, dimensions_);
    const std::string number = lexer.at(detail::TokenKind::String) ? parse_string(lexer) : "none";
    for (std::size_t i = 0; i < nested_.size(); ++i) {
      if (std::to_string(i) != number) continue;
      if (kControlFlow.as_argument == nullptr) KEYWAY_FAIL(Parse, "this program has no operators of control flow");
      return kControlFlow.as_argument(Graph(nested_[i]));
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
        node.results.push_back(parse_value(result.type(), lexer, dimensions_));
      else if (result.type().is(TypeKind::List))
        node.results.emplace_back(parse_made_list(lexer, node));
      else
        node.results.push_back(parse_made(lexer, node));
    }
    if (!lexer.at(detail::TokenKind::End)) KEYWAY_FAIL(Parse, "there are more results than the operator has");
  }
  IValue parse_made(detail::Lexer& lexer, const Node& node) {
    const ValueId id = parse_made_id(lexer, node);
    return id == kNoValue ? IValue() : IValue(id);
  }
  ValueId parse_made_id(detail::Lexer& lexer, const Node& node) {
    if (accept_word(lexer, "None")) return kNoValue;
    const ValueId id = parse_value_id(lexer);
    if (is_of_program())
      make_value(id, node);
    else
      parse_description(lexer, id);
    return id;
  }
  std::vector<ValueId> parse_made_list(detail::Lexer& lexer, const Node& node) {
    std::vector<ValueId> list;
    for (expect(lexer, '['); !lexer.accept(']');) {
      if (!list.empty()) expect(lexer, ',');
      if (list.size() == kMaxInputs) KEYWAY_FAIL(Parse, "a call gives at most {} tensors", kMaxInputs);
      list.push_back(parse_made_id(lexer, node));
    }
    return list;
  }
  // In a program: the next value, or an argument of the call.
  void make_value(ValueId id, const Node& node) {
    if (id == value_count_) {
      ++value_count_;
      if (reading_ == Reading::Calls) graph_.values.push_back({TensorInfo(ScalarType::Float, DeviceType::CPU, {}), id});
      return;
    }
    bool is_argument = false;
    for_each_value(node.op->schema().arguments(), node.arguments,
                   [&](ValueId argument) { is_argument = is_argument || argument == id; });
    if (!is_argument) KEYWAY_FAIL(Parse, "the next value is %{}, and %{} is no argument of the call", value_count_, id);
  }

  void parse_return(std::string_view line) {
    detail::Lexer lexer(line);
    expect_word(lexer, "return");
    expect(lexer, '(');
    while (!lexer.accept(')')) {
      if (!graph_.outputs.empty()) expect(lexer, ',');
      if (graph_.outputs.size() == kMaxInputs) KEYWAY_FAIL(Parse, "a graph has at most {} results", kMaxInputs);
      graph_.outputs.push_back(accept_word(lexer, "None") ? kNoValue : parse_value_id(lexer));
      if (graph_.outputs.back() >= value_count_)
        KEYWAY_FAIL(Parse, "%{} is used before it is made", graph_.outputs.back());
    }
    if (!lexer.at(detail::TokenKind::End)) KEYWAY_FAIL(Parse, "there is {} behind the results", found(lexer));
  }

  static constexpr int kMostNested = 64;

  Reading reading_;
  Dimensions dimensions_;
  bool has_state_ = false;  // among the inputs so far
  bool has_sizes_ = true;   // false: dimensions are not known yet, and geometries mean nothing
  std::string_view rest_, line_;
  int depth_;
  std::vector<Graph> nested_;  // of the call that is being read
  std::size_t number_ = 0, call_count_ = 0;
  ValueId value_count_ = 0;  // that are made so far
  Graph graph_;
  Signature signature_;
};

}  // namespace

Graph parse(std::string_view text) { return Parser(text, Reading::Graph).graph(); }

Signature parse_signature(std::string_view text) { return Parser(text, Reading::Signature).signature(); }

Graph parse_calls(std::string_view text, const Dimensions& dimensions) {
  return Parser(text, Reading::Calls, dimensions).graph();
}

}  // namespace keyway::inline v1::graph
