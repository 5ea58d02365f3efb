#include <keyway/backends/cpu/order.h>
#include <keyway/tests/backends/cpu/kernel_data.h>
#include <keyway/tests/catch.h>

#include <algorithm>
#include <limits>

using namespace keyway;
using namespace keyway::testing;

namespace {

// Keys of many kinds: few or many values, of one digit or all of them, the extremes among them.
template <typename Item>
std::vector<std::int64_t> random_keys(Rng& rng, std::int64_t n, int kind) {
  constexpr std::int64_t kHighest =
      kKeyBits<Item> == 32 ? std::numeric_limits<std::int32_t>::max() : std::numeric_limits<std::int64_t>::max();
  std::vector<std::int64_t> keys(static_cast<std::size_t>(n));
  for (std::int64_t& key : keys) {
    switch (kind) {
      case 0: key = 7; break;
      case 1: key = random_int(rng, -2, 2); break;
      case 2: key = random_int(rng, 0, 1) == 0 ? kHighest : -kHighest - 1; break;
      case 3: key = random_int(rng, 0, 5) << 16; break;
      default: key = random_int(rng, -(kHighest / 2), kHighest / 2); break;
    }
  }
  return keys;
}

template <typename Item>
void check(Rng& rng, std::int64_t n, int kind) {
  CAPTURE(n, kind);
  const std::vector<std::int64_t> keys = random_keys<Item>(rng, n, kind);
  std::vector<Item> given(keys.size()), room(keys.size());
  std::vector<std::int64_t> order(keys.size());
  for (std::int64_t i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    given[at] = make_item<Item>(keys[at], i);
    order[at] = i;
    REQUIRE(index_of(given[at]) == i);
  }
  const auto key_of = [&](std::int64_t index) { return keys[static_cast<std::size_t>(index)]; };
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return key_of(a) < key_of(b); });

  std::vector<Item> items = given;
  const Item* const sorted = sort_items(items.data(), room.data(), n);
  bool right = true;
  for (std::int64_t i = 0; i < n; ++i) right = right && index_of(sorted[i]) == order[static_cast<std::size_t>(i)];
  REQUIRE(right);

  for (const std::int64_t k :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{47}, std::int64_t{48}, n / 5, n / 2, n - 1, n}) {
    if (k < 0 || k > n) continue;
    CAPTURE(k);
    if (k < n) {
      REQUIRE(index_of(nth_item(given.data(), room.data(), n, k)) == order[static_cast<std::size_t>(k)]);
    }
    items = given;
    select_items(items.data(), room.data(), n, k);
    std::vector<std::int64_t> wanted(order.begin(), order.begin() + k), selected;
    std::sort(wanted.begin(), wanted.end());
    for (std::int64_t i = 0; i < k; ++i) selected.push_back(index_of(items[static_cast<std::size_t>(i)]));
    if (k < kFewItems) std::sort(selected.begin(), selected.end());
    REQUIRE(selected == wanted);
    const Item* const first = sort_items(items.data(), room.data(), k);
    bool in_order = true;
    for (std::int64_t i = 0; i < k; ++i)
      in_order = in_order && index_of(first[i]) == order[static_cast<std::size_t>(i)];
    REQUIRE(in_order);
  }
}

}  // namespace

TEST_CASE("keys of 32 and 64 bits are ordered, and equal ones by index") {
  Rng rng(1);
  for (const std::int64_t n : {0, 1, 2, 3, 16, 47, 48, 49, 127, 128, 129, 300, 1000, 5000}) {
    for (int kind = 0; kind < 5; ++kind) {
      check<Item32>(rng, n, kind);
      check<Item64>(rng, n, kind);
    }
  }
}
