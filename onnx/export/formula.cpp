// Formulas of dimensions as nodes.
#include <keyway/core/base/error.h>
#include <keyway/core/schema/lexer.h>
#include <keyway/onnx/export/builder.h>

#include <algorithm>
#include <charconv>
#include <functional>

namespace keyway::inline v1::onnx::exporter {

namespace {

Var node(Builder& builder, std::string_view op, const Var& a, const Var& b) {
  return builder.add_node(op, {a, b}, {kLong}, {}).front();
}

// Rounds down: ONNX cuts off, and its remainder has the sign of the divisor.
Var quotient(Builder& builder, const Var& a, const Var& b) {
  return node(builder, "Div", node(builder, "Sub", a, node(builder, "Mod", a, b)), b);
}

// A formula that was checked when its program was read.
class FormulaWriter {
 public:
  FormulaWriter(Builder& builder, std::string_view text, std::function<Var(const std::string&)> dimension)
      : builder_(builder), lexer_(text), dimension_(std::move(dimension)) {}

  Var sum() {
    Var value = product();
    for (;;) {
      if (lexer_.accept('+'))
        value = node(builder_, "Add", value, product());
      else if (lexer_.accept('-'))
        value = node(builder_, "Sub", value, product());
      else
        return value;
    }
  }

 private:
  Var product() {
    Var value = factor();
    for (;;) {
      if (lexer_.accept('*')) {
        value = node(builder_, "Mul", value, factor());
      } else if (lexer_.accept('/')) {
        lexer_.advance();
        value = quotient(builder_, value, factor());
      } else {
        return value;
      }
    }
  }

  Var factor() {
    if (lexer_.accept('(')) {
      const Var value = sum();
      KEYWAY_CHECK_AS(Parse, lexer_.accept(')'), "')' is missing in a formula");
      return value;
    }
    const std::string text(lexer_.text());
    const bool is_name = lexer_.at(detail::TokenKind::Name);
    lexer_.advance();
    if (is_name) return dimension_(text);
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    KEYWAY_CHECK_AS(Parse, error == std::errc() && end == text.data() + text.size(), "'{}' is no formula", text);
    return builder_.integers({number});
  }

  Builder& builder_;
  detail::Lexer lexer_;
  std::function<Var(const std::string&)> dimension_;
};

}  // namespace

std::vector<std::string> names_in(std::string_view formula) {
  std::vector<std::string> names;
  for (detail::Lexer lexer(formula); !lexer.at(detail::TokenKind::End); lexer.advance()) {
    const std::string name(lexer.text());
    if (lexer.at(detail::TokenKind::Name) && std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

void Builder::add_dimensions(const std::string& input, const std::vector<std::string>& sizes) {
  for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
    const std::vector<std::string> names = names_in(sizes[axis]);
    if (names.size() != 1) continue;
    const auto found = dimensions_.find(names[0]);
    const bool is_plain = sizes[axis] == names[0];
    if (found != dimensions_.end() && (!is_plain || found->second.formula == names[0])) continue;
    dimensions_[names[0]] = {input, static_cast<std::int64_t>(axis), sizes[axis]};
  }
}

Var Builder::dimension(const std::string& name) {
  const auto [found, is_new] = formulas_.try_emplace(name);
  if (!is_new) return found->second;
  const auto source = dimensions_.find(name);
  KEYWAY_CHECK_AS(NotImplemented, source != dimensions_.end(),
                  "the size of the dimension '{}' follows from no single size of an argument", name);
  const auto& [input, axis, text] = source->second;
  Var size = add_node("Shape", {{input, ScalarType::Undefined}}, {kLong}, {{"start", axis}, {"end", axis + 1}}).front();
  if (text != name) {
    const std::int64_t at_0 = graph::evaluate(text, {{name, 0}});
    const std::int64_t slope = graph::evaluate(text, {{name, 1}}) - at_0;
    size = quotient(*this, node(*this, "Sub", size, integers({at_0})), integers({slope}));
  }
  return formulas_[name] = size;
}

Var Builder::formula(const std::string& text) {
  const auto found = formulas_.find(text);
  if (found != formulas_.end()) return found->second;
  const Var value = FormulaWriter(*this, text, [&](const std::string& name) { return dimension(name); }).sum();
  return formulas_[text] = value;
}

}  // namespace keyway::inline v1::onnx::exporter
