// How far two texts are from each other.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace keyway::inline v1 {

// Longer names are not worth a search.
inline constexpr std::size_t kLongestCompared = 128;

struct SameCharacter {
  constexpr bool operator()(char a, char b) const { return a == b; }
};

// Insertions, deletions, replacements and swaps of neighbours that turn one text into the other: Damerau's distance, in
// its restricted form (optimal string alignment). Requires: neither is longer than kLongestCompared.
template <typename Equal = SameCharacter>
constexpr std::size_t edit_distance(std::string_view a, std::string_view b, Equal equal = {}) {
  using Row = std::array<std::size_t, kLongestCompared + 1>;
  Row before{}, last{}, row{};  // of the two letters of `a` before this one, and of this one
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = last;
    last = row;
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const auto shorter = [](std::size_t x, std::size_t y) { return x < y ? x : y; };
      const std::size_t replaced = last[j - 1] + (equal(a[i - 1], b[j - 1]) ? 0 : 1);
      row[j] = shorter(replaced, shorter(last[j], row[j - 1]) + 1);
      if (i > 1 && j > 1 && equal(a[i - 1], b[j - 2]) && equal(a[i - 2], b[j - 1]))
        row[j] = shorter(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace keyway::inline v1
