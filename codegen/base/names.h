// Names: what may stand in generated code, how a name is quoted in an error, and which one was meant; lists of names.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace keyway::inline v1 {

inline constexpr std::size_t kMaxNameLength = 128;

// Why `name` cannot be an identifier of generated code ("is a C++ keyword"), or nothing if it can.
std::optional<std::string> name_fault(std::string_view name);

// The same of an argument, whose name must be none that generated functions have for what is their own: those end in an
// underscore.
std::optional<std::string> argument_name_fault(std::string_view name);
// Whether no Python program can use the name.
bool is_python_keyword(std::string_view name);

// The same for a C++ name that may be qualified: `nn::relu`.
std::optional<std::string> qualified_name_fault(std::string_view name);

constexpr bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

// A text fit for one line of a terminal: control characters escaped, a long one cut.
std::string shown(std::string_view text);
// The same in single quotes.
std::string in_quotes(std::string_view text);

// "a, b, c".
std::string joined(const std::vector<std::string>& parts, std::string_view separator = ", ");

// Whether a list has something of that value: an item or, with a projection, what that gives of one.
template <typename Range, typename Value, typename Projection = std::identity>
requires requires(const Range& range, const Value& value, Projection projection) {
  std::ranges::find(range, value, projection);
}
bool contains(const Range& range, const Value& value, Projection projection = {}) {
  return std::ranges::find(range, value, projection) != std::ranges::end(range);
}

// The items of both.
template <typename Item>
std::vector<Item> concatenated(std::type_identity_t<std::vector<Item>> first, std::vector<Item> others) {
  std::ranges::move(others, std::back_inserter(first));
  return first;
}

// Of each item of a list the text that `text_of`, a member or a function, gives.
template <typename Range, typename Projection = std::identity>
std::vector<std::string> texts_of(const Range& range, Projection text_of = {}) {
  std::vector<std::string> texts;
  for (const auto& item : range) texts.emplace_back(std::invoke(text_of, item));
  return texts;
}

// "; did you mean 'other'?" with the candidate nearest to `name`, or "" where none is near.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates);
// The same of what has names: `name_of` is a member, or a function.
template <typename Range, typename Projection = std::identity>
std::string did_you_mean(std::string_view name, const Range& candidates, Projection name_of = {}) {
  return did_you_mean(name, texts_of(candidates, name_of));
}

}  // namespace keyway::inline v1
