// Alias annotations: what `(a!)`, `(a -> *)` and `(a! -> a|b)` say about a value.
#pragma once

#include <keyway/core/schema/constexpr_text.h>

#include <cstddef>
#include <string_view>

namespace keyway::inline v1 {

// The names of one alias set, such as `a|b`. `*` is the set that anything may belong to. A view of the text.
class AliasSet {
 public:
  constexpr AliasSet() = default;
  constexpr explicit AliasSet(std::string_view text) : text_(detail::trim(text)) {}

  constexpr bool empty() const { return text_.empty(); }
  constexpr std::size_t size() const {
    std::size_t bars = 0;
    for (const char c : text_) bars += c == '|' ? 1 : 0;
    return empty() ? 0 : bars + 1;
  }
  // Requires: i < size().
  constexpr std::string_view operator[](std::size_t i) const {
    std::string_view rest = text_;
    for (; i > 0; --i) rest.remove_prefix(rest.find('|') + 1);
    return detail::trim(rest.substr(0, rest.find('|')));
  }
  constexpr bool contains(std::string_view name) const {
    for (std::size_t i = 0; i < size(); ++i) {
      if ((*this)[i] == name) return true;
    }
    return false;
  }
  constexpr bool is_wildcard() const { return contains("*"); }

  friend constexpr bool operator==(AliasSet a, AliasSet b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (a[i] != b[i]) return false;
    }
    return true;
  }

 private:
  std::string_view text_;
};

// One annotation, or none. A view of the text.
class AliasInfo {
 public:
  constexpr AliasInfo() = default;
  // `text` is what stands between the parentheses, or `!` alone.
  constexpr explicit AliasInfo(std::string_view text) : text_(text), present_(true) {}

  constexpr explicit operator bool() const { return present_; }

  // Whether the operator writes to the value.
  constexpr bool is_write() const { return before_text().find('!') != std::string_view::npos; }
  // Whether it is `!` without a set: written, and aliasing nothing else.
  constexpr bool is_fresh() const { return present_ && before().empty(); }
  // The sets that the value belongs to before the call, and after it.
  constexpr AliasSet before() const { return AliasSet(before_text().substr(0, before_text().find('!'))); }
  constexpr AliasSet after() const { return has_after() ? AliasSet(text_.substr(text_.find('>') + 1)) : before(); }
  // Whether the set after the call is spelled, as in `(a -> b)`.
  constexpr bool has_after() const { return text_.find('>') != std::string_view::npos; }

  friend constexpr bool operator==(AliasInfo a, AliasInfo b) {
    return a.present_ == b.present_ && a.is_write() == b.is_write() && a.has_after() == b.has_after() &&
           a.before() == b.before() && a.after() == b.after();
  }

 private:
  constexpr std::string_view before_text() const { return text_.substr(0, text_.find('-')); }

  std::string_view text_;
  bool present_ = false;
};

}  // namespace keyway::inline v1
