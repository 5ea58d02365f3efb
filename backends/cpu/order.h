// The stable order of keys: what sorts, and what selects. Internal to backends/cpu.
#pragma once

#include <cstdint>

namespace keyway::inline v1 {

// A key of half the bits above the place where it stands: they order by key, and equal keys by place. No two are equal,
// so in this order every algorithm is stable.
using Placed32 = std::int64_t;  // a key of 32 bits, and a place below 2^32
__extension__ using Placed64 = __int128;

template <typename Placed>
inline constexpr int kKeyBits = sizeof(Placed) * 4;

template <typename Placed>
constexpr Placed placed(std::int64_t key, std::int64_t place) {
  return static_cast<Placed>(key) << kKeyBits<Placed> | static_cast<Placed>(place);
}
template <typename Placed>
constexpr std::int64_t place_of(Placed item) {
  return static_cast<std::int64_t>(item & ((Placed{1} << kKeyBits<Placed>)-1));
}

// Fewer are sorted by comparing them, and more of Placed64.
inline constexpr std::int64_t kFewItems = 48;

// The n items in order, which are at `items` or at `room` then. Both are of n items, which are overwritten.
// Requires: the items stand in the order of their places, or are few.
template <typename Placed>
Placed* sort_placed(Placed* items, Placed* room, std::int64_t n);

// The item that is at `place` in order. `room` is of n items and is overwritten. Requires: 0 <= place < n.
template <typename Placed>
Placed find_placed(const Placed* items, Placed* room, std::int64_t n, std::int64_t place);

// The first k of the n items come to be the first: in the order of their places if they stood so, or in none if they
// are few. `room` is as above. Requires: 0 <= k <= n.
template <typename Placed>
void select_placed(Placed* items, Placed* room, std::int64_t n, std::int64_t k);

}  // namespace keyway::inline v1
