// DefaultValue: the default of an argument, with the spelling that the schema gave it.
#pragma once

#include <keyway/core/schema/constexpr_text.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

namespace keyway::inline v1 {

enum class DefaultKind : std::uint8_t {
  None,        // None
  Bool,        // True, False
  Int,         // 1, -100
  Float,       // 0.5, 1e-05, inf
  Complex,     // 1j
  String,      // "none", 'none'
  List,        // [], [0,1]
  Identifier,  // long, strided, contiguous_format, Mean
};

// Cheap to copy; a view of the schema's text.
class DefaultValue {
 public:
  // Requires: `text` is a default that the parser accepted.
  constexpr explicit DefaultValue(std::string_view text) : text_(text) {}

  // Exactly as spelled.
  constexpr std::string_view text() const { return text_; }
  constexpr DefaultKind kind() const;

  // The value, if it is of that kind; as_int is also absent where it does not fit in 64 bits.
  constexpr std::optional<bool> as_bool() const;
  constexpr std::optional<std::int64_t> as_int() const;
  // What stands between the quotes, escapes unresolved.
  constexpr std::optional<std::string_view> as_string() const;

  // The elements of a list, none of another kind. size() and [i] walk the text: iterate over a long list.
  class Elements;
  constexpr Elements elements() const;

  // Equal up to white space between the elements of a list.
  friend constexpr bool operator==(DefaultValue a, DefaultValue b) {
    if (a.kind() != b.kind()) return false;
    if (a.kind() != DefaultKind::List) return a.text_ == b.text_;
    return equal_elements(a, b);
  }

 private:
  static constexpr DefaultKind number_kind(std::string_view text);
  static constexpr bool equal_elements(DefaultValue a, DefaultValue b);

  std::string_view text_;
};

// A forward range of DefaultValue.
class DefaultValue::Elements {
 public:
  class iterator {
   public:
    using value_type = DefaultValue;
    using difference_type = std::ptrdiff_t;

    constexpr iterator() = default;
    constexpr explicit iterator(std::string_view rest) : rest_(rest) { ++*this; }
    constexpr DefaultValue operator*() const { return DefaultValue(element_); }
    constexpr iterator& operator++();
    constexpr iterator operator++(int) {
      iterator before = *this;
      ++*this;
      return before;
    }
    // What is left tells positions in one list apart; only the end has no element.
    friend constexpr bool operator==(const iterator& a, const iterator& b) {
      return a.rest_.size() == b.rest_.size() && a.element_.size() == b.element_.size();
    }

   private:
    std::string_view element_;
    std::string_view rest_;
  };

  // Requires: `text` is what stands between the brackets of a list.
  constexpr explicit Elements(std::string_view text) : text_(text) {}

  constexpr iterator begin() const { return iterator(text_); }
  constexpr iterator end() const { return {}; }
  constexpr bool empty() const { return begin() == end(); }
  constexpr std::size_t size() const { return static_cast<std::size_t>(std::ranges::distance(begin(), end())); }
  // Requires: i < size().
  constexpr DefaultValue operator[](std::size_t i) const {
    auto at = begin();
    for (; i > 0; --i) ++at;
    return *at;
  }

 private:
  std::string_view text_;
};

constexpr DefaultKind DefaultValue::kind() const {
  const char first = text_.front();
  if (first == '[') return DefaultKind::List;
  if (first == '"' || first == '\'') return DefaultKind::String;
  if (text_ == "None") return DefaultKind::None;
  if (text_ == "True" || text_ == "False") return DefaultKind::Bool;
  if (text_ == "inf" || text_ == "nan") return DefaultKind::Float;
  const bool number = first == '-' || first == '.' || (first >= '0' && first <= '9');
  return number ? number_kind(text_) : DefaultKind::Identifier;
}

constexpr DefaultKind DefaultValue::number_kind(std::string_view text) {
  if (text.back() == 'j') return DefaultKind::Complex;
  for (const char c : text) {
    if (c == '.' || c == 'e' || c == 'E' || c == 'i') return DefaultKind::Float;
  }
  return DefaultKind::Int;
}

constexpr std::optional<bool> DefaultValue::as_bool() const {
  if (kind() != DefaultKind::Bool) return std::nullopt;
  return text_ == "True";
}

constexpr std::optional<std::int64_t> DefaultValue::as_int() const {
  if (kind() != DefaultKind::Int) return std::nullopt;
  const bool negative = text_.front() == '-';
  const std::uint64_t limit = (std::uint64_t{1} << 63) - (negative ? 0 : 1);
  std::uint64_t value = 0;
  for (const char c : text_.substr(negative ? 1 : 0)) {
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (value > (limit - digit) / 10) return std::nullopt;
    value = value * 10 + digit;
  }
  return static_cast<std::int64_t>(negative ? 0 - value : value);
}

constexpr std::optional<std::string_view> DefaultValue::as_string() const {
  if (kind() != DefaultKind::String) return std::nullopt;
  return text_.substr(1, text_.size() - 2);
}

constexpr DefaultValue::Elements DefaultValue::elements() const {
  return Elements(kind() == DefaultKind::List ? text_.substr(1, text_.size() - 2) : std::string_view());
}

constexpr bool DefaultValue::equal_elements(DefaultValue a, DefaultValue b) {
  return std::ranges::equal(a.elements(), b.elements());
}

// Moves to the text before the next comma that stands in no string and no inner list.
constexpr DefaultValue::Elements::iterator& DefaultValue::Elements::iterator::operator++() {
  while (!rest_.empty() && detail::is_space(rest_.front())) rest_.remove_prefix(1);
  std::size_t end = 0;
  int depth = 0;
  char quote = '\0';
  for (; end < rest_.size() && (rest_[end] != ',' || depth > 0 || quote != '\0'); ++end) {
    const char c = rest_[end];
    if (quote != '\0') {
      if (c == '\\') ++end;
      if (c == quote) quote = '\0';
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else {
      depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    }
  }
  element_ = detail::trim(rest_.substr(0, end));
  rest_ = end < rest_.size() ? rest_.substr(end + 1) : std::string_view();
  return *this;
}

}  // namespace keyway::inline v1
