// Names: what may stand in generated code, how a name is quoted in an error, and which one was meant.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
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
std::string joined(const std::vector<std::string>& parts);

// "; did you mean 'other'?" with the candidate nearest to `name`, or "" where none is near.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates);
// The same of what has names: `name_of` is a member, or a function.
template <typename Range, typename Projection = std::identity>
std::string did_you_mean(std::string_view name, const Range& candidates, Projection name_of = {}) {
  std::vector<std::string> names;
  for (const auto& candidate : candidates) names.emplace_back(std::invoke(name_of, candidate));
  return did_you_mean(name, names);
}

}  // namespace keyway::inline v1
