#include <keyway/backends/cpu/order.h>

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

namespace keyway::inline v1 {

namespace {

// How many items have each value of a byte of the key, then where the next of them goes.
template <typename Placed>
using Counts = std::array<std::conditional_t<sizeof(Placed) == 8, std::uint32_t, std::int64_t>, 256>;

// Byte d of the key, which is signed: its last byte is turned so that negative ones come first.
template <typename Placed>
std::uint8_t digit(Placed item, int d) {
  constexpr int kDigits = kKeyBits<Placed> / 8;
  const auto byte = static_cast<std::uint8_t>(item >> (kKeyBits<Placed> + 8 * d));
  return d == kDigits - 1 ? byte ^ 0x80 : byte;
}

// By each byte of the key in turn, from the last to the first, which keeps the order of those before among equals.
// Bytes that are the same in all items take no turn.
template <typename Placed>
Placed* sort_by_digits(Placed* items, Placed* room, std::int64_t n) {
  constexpr int kDigits = kKeyBits<Placed> / 8;
  std::array<Counts<Placed>, kDigits> counts{};
  for (std::int64_t i = 0; i < n; ++i) {
    for (int d = 0; d < kDigits; ++d) ++counts[d][digit(items[i], d)];
  }
  for (int d = 0; d < kDigits; ++d) {
    Counts<Placed>& next = counts[d];
    if (static_cast<std::int64_t>(next[digit(items[0], d)]) == n) continue;
    typename Counts<Placed>::value_type begin = 0;
    for (auto& count : next) begin += std::exchange(count, begin);
    for (std::int64_t i = 0; i < n; ++i) room[next[digit(items[i], d)]++] = items[i];
    std::swap(items, room);
  }
  return items;
}

// The item at `place` among n: by the first byte of the key in which items differ, then, of those that have the byte of
// the one wanted, by the next. Those that are left keep their order, and are equal in the end.
template <typename Placed>
Placed find_by_digits(const Placed* items, Placed* room, std::int64_t n, std::int64_t place) {
  for (int d = kKeyBits<Placed> / 8 - 1; d >= 0 && n > 1; --d) {
    Counts<Placed> counts{};
    for (std::int64_t i = 0; i < n; ++i) ++counts[digit(items[i], d)];
    if (static_cast<std::int64_t>(counts[digit(items[0], d)]) == n) continue;
    int wanted = 0;
    while (place >= static_cast<std::int64_t>(counts[wanted])) place -= static_cast<std::int64_t>(counts[wanted++]);
    std::int64_t left = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      room[left] = items[i];
      left += digit(items[i], d) == wanted ? 1 : 0;
    }
    items = room;
    n = left;
  }
  return items[place];
}

// The first k come to be the first: by a heap of those so far, which most others do not come before.
template <typename Placed>
void select_by_heap(Placed* items, std::int64_t n, std::int64_t k) {
  std::make_heap(items, items + k);
  for (std::int64_t i = k; i < n; ++i) {
    if (items[i] > items[0]) continue;
    std::pop_heap(items, items + k);
    items[k - 1] = items[i];
    std::push_heap(items, items + k);
  }
}

}  // namespace

template <typename Placed>
Placed* sort_placed(Placed* items, Placed* room, std::int64_t n) {
  constexpr std::int64_t kFew = sizeof(Placed) == 8 ? kFewItems : 128;  // below, to count the digits costs more
  if (n >= kFew) return sort_by_digits(items, room, n);
  std::sort(items, items + n);
  return items;
}

template <typename Placed>
Placed find_placed(const Placed* items, Placed* room, std::int64_t n, std::int64_t place) {
  if (n >= kFewItems) return find_by_digits(items, room, n, place);
  std::copy(items, items + n, room);
  std::nth_element(room, room + place, room + n);
  return room[place];
}

template <typename Placed>
void select_placed(Placed* items, Placed* room, std::int64_t n, std::int64_t k) {
  if (k == 0 || k == n) return;
  if (k < kFewItems && k <= n / 4) return select_by_heap(items, n, k);
  const Placed last = find_placed(items, room, n, k - 1);
  std::int64_t kept = 0;
  for (std::int64_t i = 0; kept < k; ++i) {
    const Placed item = items[i];
    items[kept] = item;
    kept += item <= last ? 1 : 0;
  }
}

template Placed32* sort_placed(Placed32*, Placed32*, std::int64_t);
template Placed64* sort_placed(Placed64*, Placed64*, std::int64_t);
template Placed32 find_placed(const Placed32*, Placed32*, std::int64_t, std::int64_t);
template Placed64 find_placed(const Placed64*, Placed64*, std::int64_t, std::int64_t);
template void select_placed(Placed32*, Placed32*, std::int64_t, std::int64_t);
template void select_placed(Placed64*, Placed64*, std::int64_t, std::int64_t);

}  // namespace keyway::inline v1
