// The stable order of keys: what sorts, and what selects. Internal to backends/cpu.
#pragma once

#include <cstdint>

namespace keyway::inline v1 {

// A key of half the bits above the index of its element: items order by key, and equal keys by index. No two are equal,
// so in this order every algorithm is stable.
using Item32 = std::int64_t;  // a key of 32 bits, and an index below 2^32
__extension__ using Item64 = __int128;

template <typename Item>
inline constexpr int kKeyBits = sizeof(Item) * 4;

template <typename Item>
constexpr Item make_item(std::int64_t key, std::int64_t index) {
  return static_cast<Item>(key) << kKeyBits<Item> | static_cast<Item>(index);
}
template <typename Item>
constexpr std::int64_t index_of(Item item) {
  return static_cast<std::int64_t>(item & ((Item{1} << kKeyBits<Item>)-1));
}

// Fewer are sorted by comparing them, and more of Item64.
inline constexpr std::int64_t kFewItems = 48;

// The n items in order, which are at `items` or at `room` then. Both are of n items, which are overwritten.
// Requires: the items stand in the order of their indices, or are few.
template <typename Item>
Item* sort_items(Item* items, Item* room, std::int64_t n);

// The item of that rank in order. `room` is of n items and is overwritten. Requires: 0 <= rank < n.
template <typename Item>
Item nth_item(const Item* items, Item* room, std::int64_t n, std::int64_t rank);

// The first k of the n items come to be the first: in the order of their indices if they stood so, or in none if they
// are few. `room` is as above. Requires: 0 <= k <= n.
template <typename Item>
void select_items(Item* items, Item* room, std::int64_t n, std::int64_t k);

}  // namespace keyway::inline v1
