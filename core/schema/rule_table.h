// Tables with a row for each rule of transform_rules.h, in the order of the rules: a rule's number finds its row.
#pragma once

#include <keyway/core/schema/fixed_string.h>
#include <keyway/core/schema/transform_rules.h>

#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>

namespace keyway::inline v1 {

template <typename Function>
struct RuleRow {
  std::string_view rule;  // its name
  Function function;
};

namespace detail {

template <const auto& rules, std::size_t i>
inline constexpr auto kRuleName = [] {
  FixedString<rules[i].name.size() + 1> name;
  rules[i].name.copy(name.chars, rules[i].name.size());
  return name;
}();

// A template, so that the compiler's error shows the name.
template <FixedString rule, bool stands_in_its_place>
consteval bool check_row() {
  static_assert(stands_in_its_place, "the row of this rule does not stand where transform_rules.h has the rule");
  return true;
}

template <const auto& rows, const auto& rules, std::size_t i>
inline constexpr bool kStandsInItsPlace = i < std::size(rows) && rows[i].rule == rules[i].name;

template <const auto& rows, const auto& rules, std::size_t... i>
consteval bool check_rows(std::index_sequence<i...>) {
  return (check_row<kRuleName<rules, i>, kStandsInItsPlace<rows, rules, i>>() && ...);
}

}  // namespace detail

// Does not compile where the table has other rows than one for each rule, in the order of the rules.
template <const auto& rows, const auto& rules>
consteval bool has_a_row_for_each_rule() {
  static_assert(std::size(rows) <= std::size(rules), "the table has more rows than there are rules");
  return detail::check_rows<rows, rules>(std::make_index_sequence<std::size(rules)>());
}

}  // namespace keyway::inline v1
