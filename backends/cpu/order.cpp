#include <keyway/backends/cpu/order.h>

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

namespace keyway::inline v1 {

namespace {

// How many items have each value of a byte of the key, then where the next of them goes.
template <typename Item>
using Counts = std::array<std::conditional_t<sizeof(Item) == 8, std::uint32_t, std::int64_t>, 256>;

// Byte d of the key, which is signed: its last byte has its sign bit flipped so that negative ones come first.
template <typename Item>
std::uint8_t digit(Item item, int d) {
  constexpr int kDigits = kKeyBits<Item> / 8;
  const auto byte = static_cast<std::uint8_t>(item >> (kKeyBits<Item> + 8 * d));
  return d == kDigits - 1 ? byte ^ 0x80 : byte;
}

// By each byte of the key in turn, from the last to the first, which keeps the order of those before among equals.
// Bytes that are the same in all items take no turn.
template <typename Item>
Item* radix_sort(Item* items, Item* room, std::int64_t n) {
  constexpr int kDigits = kKeyBits<Item> / 8;
  std::array<Counts<Item>, kDigits> counts{};
  for (std::int64_t i = 0; i < n; ++i) {
    for (int d = 0; d < kDigits; ++d) ++counts[d][digit(items[i], d)];
  }
  for (int d = 0; d < kDigits; ++d) {
    Counts<Item>& next = counts[d];
    if (static_cast<std::int64_t>(next[digit(items[0], d)]) == n) continue;
    typename Counts<Item>::value_type begin = 0;
    for (auto& count : next) begin += std::exchange(count, begin);
    for (std::int64_t i = 0; i < n; ++i) room[next[digit(items[i], d)]++] = items[i];
    std::swap(items, room);
  }
  return items;
}

// The item of `rank` among n: by the first byte of the key in which items differ, then, of those that have the byte of
// the one wanted, by the next. Those that are left keep their order, and are equal in the end.
template <typename Item>
Item radix_select(const Item* items, Item* room, std::int64_t n, std::int64_t rank) {
  for (int d = kKeyBits<Item> / 8 - 1; d >= 0 && n > 1; --d) {
    Counts<Item> counts{};
    for (std::int64_t i = 0; i < n; ++i) ++counts[digit(items[i], d)];
    if (static_cast<std::int64_t>(counts[digit(items[0], d)]) == n) continue;
    int wanted = 0;
    while (rank >= static_cast<std::int64_t>(counts[wanted])) rank -= static_cast<std::int64_t>(counts[wanted++]);
    std::int64_t left = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      room[left] = items[i];
      left += digit(items[i], d) == wanted ? 1 : 0;
    }
    items = room;
    n = left;
  }
  return items[rank];
}

// The first k come to be the first: by a heap of those so far, which most others do not come before.
template <typename Item>
void select_by_heap(Item* items, std::int64_t n, std::int64_t k) {
  std::make_heap(items, items + k);
  for (std::int64_t i = k; i < n; ++i) {
    if (items[i] > items[0]) continue;
    std::pop_heap(items, items + k);
    items[k - 1] = items[i];
    std::push_heap(items, items + k);
  }
}

}  // namespace

template <typename Item>
Item* sort_items(Item* items, Item* room, std::int64_t n) {
  constexpr std::int64_t kFew = sizeof(Item) == 8 ? kFewItems : 128;  // below, to count the digits costs more
  if (n >= kFew) return radix_sort(items, room, n);
  std::sort(items, items + n);
  return items;
}

template <typename Item>
Item nth_item(const Item* items, Item* room, std::int64_t n, std::int64_t rank) {
  if (n >= kFewItems) return radix_select(items, room, n, rank);
  std::copy(items, items + n, room);
  std::nth_element(room, room + rank, room + n);
  return room[rank];
}

template <typename Item>
void select_items(Item* items, Item* room, std::int64_t n, std::int64_t k) {
  if (k == 0 || k == n) return;
  if (k < kFewItems && k <= n / 4) return select_by_heap(items, n, k);
  const Item last = nth_item(items, room, n, k - 1);
  std::int64_t kept = 0;
  for (std::int64_t i = 0; kept < k; ++i) {
    const Item item = items[i];
    items[kept] = item;
    kept += item <= last ? 1 : 0;
  }
}

template Item32* sort_items(Item32*, Item32*, std::int64_t);
template Item64* sort_items(Item64*, Item64*, std::int64_t);
template Item32 nth_item(const Item32*, Item32*, std::int64_t, std::int64_t);
template Item64 nth_item(const Item64*, Item64*, std::int64_t, std::int64_t);
template void select_items(Item32*, Item32*, std::int64_t, std::int64_t);
template void select_items(Item64*, Item64*, std::int64_t, std::int64_t);

}  // namespace keyway::inline v1
