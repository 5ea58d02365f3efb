// irange: integers to loop over.
#pragma once

#include <keyway_compat/namespaces.h>
#include <ranges>
#include <type_traits>

namespace c10 {
// None where `end` lies below the begin.
template <typename Begin, typename End>
auto irange(Begin begin, End end) {
  const auto first = static_cast<End>(begin);
  return std::views::iota(first, end < first ? first : end);
}
template <typename End>
auto irange(End end) {
  return irange(End{0}, end);
}
}  // namespace c10
