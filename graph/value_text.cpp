#include <keyway/core/base/number_text.h>
#include <keyway/core/schema/named_values.h>
#include <keyway/core/schema/signature_code.h>
#include <keyway/core/schema/string_default.h>
#include <keyway/dispatch/call/default_argument.h>
#include <keyway/dispatch/call/signature.h>
#include <keyway/graph/graph.h>
#include <keyway/graph/subgraph.h>
#include <keyway/graph/value_text.h>

#include <charconv>
#include <fmt/format.h>
#include <limits>

namespace keyway::inline v1::graph {

std::string in_quotes(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '\\' || c == '\'')
      quoted += {'\\', c};
    else if (code < ' ' || code == 0x7f)
      quoted += fmt::format("\\x{:02x}", code);
    else
      quoted += c;
  }
  return quoted + "'";
}

namespace {

std::string text_of(const complex<double>& number) {
  return detail::complex_text(detail::python_repr(number.real()), detail::python_repr(number.imag()));
}

std::string text_of(const Scalar& number) {
  if (number.isBoolean()) return number.to<bool>() ? "True" : "False";
  if (number.isComplex()) return text_of(number.to<complex<double>>());
  if (number.isFloatingPoint()) return detail::python_repr(number.to<double>());
  return to_string(number);
}

std::string text_of_id(ValueId id) { return id == kNoValue ? "None" : fmt::format("%{}", id); }

std::string text_of_named(TypeKind type, std::int64_t number) {
  const NamedValue* const value = find_named_value(type, number);
  if (value == nullptr) KEYWAY_FAIL(Internal, "graph: a value of number {} has no name", number);
  return std::string(value->python());
}

template <typename T, typename Text>
std::string text_of_list(ArrayRef<T> list, Text&& text) {
  std::string all = "[";
  for (const T& item : list) all += (all.size() == 1 ? "" : ", ") + text(item);
  return all + "]";
}

// The elements of a list, each as a boxed value of its own.
std::vector<IValue> elements_of(const IValue& value) {
  std::vector<IValue> elements;
  if (value.is(ValueTag::List)) return value.to_list_of<IValue>().vec();
  detail::visit_value_class(value.tag(), [&]<typename T>() {
    if constexpr (detail::kIsVector<T>) {
      for (const auto& element : value.to_list_of<typename T::value_type>()) elements.emplace_back(element);
    }
  });
  return elements;
}

// In several lines, without an end of the last one.
std::string text_of_nested(const Graph& graph) {
  std::string text = to_string(graph);
  text.pop_back();
  return text;
}

}  // namespace

std::string text_of(SchemaType type, const IValue& value) {
  if (value.is_none()) return "None";
  if (type.is(TypeKind::Optional)) return text_of(type.element(), value);
  if (type.is(TypeKind::List)) {
    // Numbers of tensors are integers, whatever the schema has.
    const std::vector<IValue> elements = elements_of(value);
    return text_of_list(ArrayRef<IValue>(elements), [&](const IValue& item) { return text_of(type.element(), item); });
  }
  switch (type.kind()) {
    case TypeKind::Tensor: return text_of_id(value.to_int());
    case TypeKind::Int:
    case TypeKind::SymInt: return std::to_string(value.to_int());
    case TypeKind::Float: return detail::python_repr(value.to_double());
    case TypeKind::Bool: return value.to_bool() ? "True" : "False";
    case TypeKind::Complex: return text_of(value.to_scalar());
    case TypeKind::Scalar: return text_of(value.to_scalar());
    case TypeKind::Str: return in_quotes(value.to_string_ref());
    case TypeKind::ScalarType: return text_of_named(type.kind(), static_cast<std::int64_t>(value.to_scalar_type()));
    case TypeKind::Layout: return text_of_named(type.kind(), static_cast<std::int64_t>(value.to_layout()));
    case TypeKind::MemoryFormat: return text_of_named(type.kind(), static_cast<std::int64_t>(value.to_memory_format()));
    case TypeKind::Device: return in_quotes(to_string(value.to_device()));
    case TypeKind::Class:
      if (const Subgraph* const graph = subgraph_of(value)) return text_of_nested(graph->graph());
      [[fallthrough]];
    default: return "<" + type_name(value) + ">";
  }
}

bool is_default(const Argument& argument, const IValue& value) {
  return argument.has_default() &&
         text_of(argument.type(), value) == text_of(argument.type(), default_argument(argument));
}

std::string found(const detail::Lexer& lexer) {
  return lexer.at(detail::TokenKind::End) ? "the end of the line" : fmt::format("'{}'", lexer.text());
}

void expect(detail::Lexer& lexer, char c) {
  if (lexer.at(c)) return lexer.advance();
  KEYWAY_FAIL(Parse, "'{}' is missing before {}", std::string(1, c), found(lexer));
}

namespace {

template <typename T>
std::optional<T> number_in(std::string_view text) {
  T number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// What the token is, which is then passed.
std::string take(detail::Lexer& lexer, const char* what) {
  if (lexer.at(detail::TokenKind::End) || lexer.at(detail::TokenKind::BadNumber) ||
      lexer.at(detail::TokenKind::BadString))
    KEYWAY_FAIL(Parse, "{} is missing before {}", what, found(lexer));
  std::string text(lexer.text());
  lexer.advance();
  return text;
}

double double_in(std::string_view text) {
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (text == "inf" || text == "-inf") return std::numeric_limits<double>::infinity() * (text[0] == '-' ? -1 : 1);
  const std::optional<double> number = number_in<double>(text);
  if (!number) KEYWAY_FAIL(Parse, "'{}' is no number", text);
  return *number;
}

bool is_integer(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789", text[0] == '-' ? 1 : 0) == std::string_view::npos;
}

// "(1+2j)", of which the lexer makes "(", "1", "+", "2j", ")" or "(", "1", "-2j", ")".
complex<double> parse_complex(detail::Lexer& lexer) {
  expect(lexer, '(');
  const double real = double_in(take(lexer, "a number"));
  lexer.accept('+');
  std::string imag = take(lexer, "a number");
  if (!imag.ends_with('j')) {  // "infj" and "nanj" are names
    KEYWAY_FAIL(Parse, "'{}' is no imaginary number", imag);
  }
  imag.pop_back();
  expect(lexer, ')');
  return {real, double_in(imag)};
}

// Whether a complex number comes next, and not a formula in parentheses.
bool is_complex_next(detail::Lexer lexer) {
  if (!lexer.accept('(')) return false;
  lexer.advance();
  lexer.accept('+');
  return lexer.text().ends_with('j');
}

bool is_formula_next(const detail::Lexer& lexer) {
  const std::string_view text = lexer.text();
  if (lexer.at(detail::TokenKind::Name)) return text != "nan" && text != "inf" && !text.ends_with('j');
  return lexer.at('(') || number_in<std::int64_t>(text).has_value();
}

Scalar parse_scalar(detail::Lexer& lexer, const Dimensions& dimensions) {
  if (is_complex_next(lexer)) return Scalar(parse_complex(lexer));
  if (lexer.text() == "True" || lexer.text() == "False") return Scalar(take(lexer, "a number") == "True");
  if (is_formula_next(lexer)) return Scalar(parse_formula(lexer, dimensions));
  const std::string text = take(lexer, "a number");
  if (text.ends_with('j'))
    return Scalar(complex<double>(0, double_in(std::string_view(text).substr(0, text.size() - 1))));
  if (!is_integer(text)) return Scalar(double_in(text));
  if (const auto number = number_in<std::uint64_t>(text)) return Scalar(*number);
  KEYWAY_FAIL(Parse, "{} is too large for an integer", text);
}

}  // namespace

std::string parse_string(detail::Lexer& lexer) {
  if (!lexer.at(detail::TokenKind::String)) KEYWAY_FAIL(Parse, "a text in quotes is missing before {}", found(lexer));
  std::string_view quoted = lexer.text().substr(1, lexer.text().size() - 2);
  std::string text;
  while (!quoted.empty()) {
    const std::optional<char> c = detail::next_character(quoted);
    if (!c) KEYWAY_FAIL(Parse, "{} has an escape sequence that is none", found(lexer));
    text += *c;
  }
  lexer.advance();
  return text;
}

namespace {

std::int64_t parse_named(TypeKind type, detail::Lexer& lexer) {
  const std::string name = take(lexer, "a name");
  const NamedValue* value = find_named_value(type, name);
  if (value == nullptr) KEYWAY_FAIL(Parse, "'{}' is no name of a value of this type", name);
  return value->number;
}

// With so many items that what is read takes little more memory than the text.
template <typename Item>
auto parse_list(detail::Lexer& lexer, Item&& item) {
  constexpr std::size_t kMostItems = 1 << 16;
  std::vector<decltype(item())> list;
  expect(lexer, '[');
  while (!lexer.accept(']')) {
    if (!list.empty()) expect(lexer, ',');
    if (list.size() == kMostItems) KEYWAY_FAIL(Parse, "a list has at most {} items", kMostItems);
    list.push_back(item());
  }
  return list;
}

ValueId parse_id_or_none(detail::Lexer& lexer) {
  if (lexer.text() != "None") return parse_value_id(lexer);
  lexer.advance();
  return kNoValue;
}

// Of a value class, as boxed values have them.
template <typename T>
T parse_as(SchemaType type, detail::Lexer& lexer, const Dimensions& dimensions) {
  if constexpr (detail::kIsVector<T>) {
    return parse_list(lexer, [&] { return parse_as<typename T::value_type>(type.element(), lexer, dimensions); });
  } else if constexpr (detail::kIsOptional<T>) {
    if (lexer.text() != "None") return parse_as<typename T::value_type>(type.element(), lexer, dimensions);
    lexer.advance();
    return std::nullopt;
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    return parse_formula(lexer, dimensions);
  } else if constexpr (std::is_same_v<T, double>) {
    return double_in(take(lexer, "a number"));
  } else if constexpr (std::is_same_v<T, bool>) {
    const std::string text = take(lexer, "True or False");
    if (text != "True" && text != "False") KEYWAY_FAIL(Parse, "'{}' is neither True nor False", text);
    return text == "True";
  } else if constexpr (std::is_same_v<T, complex<double>>) {
    return parse_scalar(lexer, dimensions).to<complex<double>>();
  } else if constexpr (std::is_same_v<T, Scalar>) {
    return parse_scalar(lexer, dimensions);
  } else if constexpr (std::is_same_v<T, std::string>) {
    return parse_string(lexer);
  } else if constexpr (std::is_same_v<T, Device>) {
    return Device(parse_string(lexer));
  } else if constexpr (std::is_enum_v<T>) {
    return static_cast<T>(parse_named(type.kind(), lexer));
  } else {
    KEYWAY_FAIL(Parse, "a value of this type has no text that could be read: {}", found(lexer));
  }
}

IValue parse_tensors(SchemaType type, detail::Lexer& lexer) {
  while (type.is(TypeKind::Optional)) type = type.element();
  if (!type.is(TypeKind::List)) return {parse_value_id(lexer)};
  SchemaType element = type.element();
  while (element.is(TypeKind::Optional)) element = element.element();
  if (!element.is(TypeKind::List)) return {parse_list(lexer, [&] { return parse_id_or_none(lexer); })};
  return {parse_list(lexer, [&] { return parse_list(lexer, [&] { return parse_id_or_none(lexer); }); })};
}

}  // namespace

std::int64_t parse_value_id(detail::Lexer& lexer) {
  expect(lexer, '%');
  const std::string text = take(lexer, "the number of a value");
  const auto number = number_in<std::int64_t>(text);
  if (!number || *number < 0) KEYWAY_FAIL(Parse, "'{}' is no number of a value", text);
  return *number;
}

std::vector<std::int64_t> parse_ints(detail::Lexer& lexer, const Dimensions& dimensions) {
  return parse_list(lexer, [&] { return parse_formula(lexer, dimensions); });
}

IValue parse_value(SchemaType type, detail::Lexer& lexer, const Dimensions& dimensions) {
  if (lexer.text() == "None") {
    lexer.advance();
    return {};
  }
  if (is_of_tensors(type)) return parse_tensors(type, lexer);
  while (type.is(TypeKind::Optional)) type = type.element();
  IValue value;
  SignatureCode code;
  const bool is_known = append_code(code, type) && !type.is(TypeKind::Dict) &&
                        detail::visit_value_class(detail::tag_of_code(code.view()), [&]<typename T>() {
                          value = IValue(parse_as<T>(type, lexer, dimensions));
                        });
  if (!is_known) KEYWAY_FAIL(Parse, "a value of this type has no text that could be read: {}", found(lexer));
  return value;
}

}  // namespace keyway::inline v1::graph
