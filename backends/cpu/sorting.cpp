// sort, topk and order statistics: each line by itself, by the keys of its elements (order.h). NaN is
// greater than all numbers. No code but that which makes the keys and moves the elements knows of dtypes, and that
// which orders knows of no direction: keys of a descending order are inverted.
#include <keyway/backends/cpu/index_list.h>
#include <keyway/backends/cpu/kernels_sorting.h>
#include <keyway/backends/cpu/operands.h>
#include <keyway/backends/cpu/order.h>
#include <keyway/backends/cpu/panel.h>
#include <keyway/backends/cpu/scratch.h>
#include <keyway/core/dtype/visit_dtype.h>
#include <keyway/ops/functors/order_key.h>

#include <cstdint>
#include <limits>

namespace keyway::inline v1 {

namespace {

// Of n items those wanted: the first k, or the one of rank k. Both arrays are of n items, and the result is in one of
// them.
template <typename Item>
using Order = Item* (*)(Item* items, Item* room, std::int64_t n, std::int64_t k);

template <typename Item>
Item* all_in_order(Item* items, Item* room, std::int64_t n, std::int64_t) {
  return sort_items(items, room, n);
}
template <typename Item>
Item* first(Item* items, Item* room, std::int64_t n, std::int64_t k) {
  select_items(items, room, n, k);
  return items;
}
template <typename Item>
Item* first_in_order(Item* items, Item* room, std::int64_t n, std::int64_t k) {
  return sort_items(first(items, room, n, k), room, k);
}
template <typename Item>
Item* nth(Item* items, Item* room, std::int64_t n, std::int64_t k) {
  *items = nth_item(items, room, n, k);
  return items;
}

struct Orders {
  Order<Item32> narrow;
  Order<Item64> wide;

  template <typename Item>
  Order<Item> of() const {
    if constexpr (sizeof(Item) == sizeof(Item32)) {
      return narrow;
    } else {
      return wide;
    }
  }
};

struct Lines {
  TensorBase self, values, indices;  // with a dimension at least
  TensorBase ranks;                  // for each line a rank, int64, or undefined
  std::int64_t dim;
  bool descending;
  Orders orders;

  std::int64_t length() const { return self.sizes()[static_cast<std::size_t>(dim)]; }
  std::int64_t wanted() const { return values.sizes()[static_cast<std::size_t>(dim)]; }
};

template <typename Item, typename T>
void make_items(const OrderKey<T>& key, const char* line, std::int64_t step, std::int64_t n, Item* items) {
  if (step == sizeof(T)) {
    const T* const elements = reinterpret_cast<const T*>(line);
    for (std::int64_t i = 0; i < n; ++i) items[i] = make_item<Item>(key(elements[i]), i);
  } else {
    for (std::int64_t i = 0; i < n; ++i) {
      items[i] = make_item<Item>(key(*reinterpret_cast<const T*>(line + i * step)), i);
    }
  }
}

template <typename T, typename Item>
void order_lines(const Lines& lines) {
  const std::int64_t n = lines.length(), wanted = lines.wanted();
  const OrderKey<T> key{lines.descending ? typename OrderKey<T>::Key{-1} : typename OrderKey<T>::Key{0}};
  const Order<Item> order = lines.orders.of<Item>();
  const auto of_panel = [&](const Panel& panel) {
    const ScratchArray<Item> items(n), room(n);
    for (std::int64_t j = 0; j < panel.lines; ++j) {
      const char* const line = panel.data[2] + j * panel.next[2];
      const std::int64_t step = panel.step[2];
      make_items(key, line, step, n, items.data());
      const std::int64_t k = lines.ranks.defined() ? *panel.at<const std::int64_t>(3, 0, j) : wanted;
      const Item* const ordered = order(items.data(), room.data(), n, k);
      for (std::int64_t i = 0; i < wanted; ++i) {
        const std::int64_t index = index_of(ordered[i]);
        *panel.at<T>(0, i, j) = *reinterpret_cast<const T*>(line + index * step);
        *panel.at<std::int64_t>(1, i, j) = index;
      }
    }
  };
  if (lines.ranks.defined()) {
    for_each_panel({&lines.values, &lines.indices, &lines.self, &lines.ranks}, lines.dim, n, 16, of_panel);
  } else {
    for_each_panel({&lines.values, &lines.indices, &lines.self}, lines.dim, n, 16, of_panel);
  }
}

void order_lines(const Lines& lines) {
  if (lines.self.numel() == 0 || lines.values.numel() == 0) return;
  visit_dtype<kRealTypes | kBool>(lines.self.dtype(), "sort", [&]<typename T>() {
    using Stored = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;
    if constexpr (sizeof(Stored) < 8) {
      if (lines.length() <= std::numeric_limits<std::uint32_t>::max()) return order_lines<Stored, Item32>(lines);
    }
    order_lines<Stored, Item64>(lines);
  });
}

}  // namespace

namespace cpu {

void _order_statistic(const TensorBase& self, const TensorBase& ranks, std::int64_t dim, TensorBase& values,
                      TensorBase& indices) {
  Lines lines{with_dim(self), with_dim(values), with_dim(indices), {}, dim, false, {nth<Item32>, nth<Item64>}};
  lines.ranks = with_dim(index_list(ranks, "ranks", 0, lines.length()));
  order_lines(lines);
}

void sort_stable(const TensorBase& self, std::optional<bool>, std::int64_t dim, bool descending, TensorBase& values,
                 TensorBase& indices) {
  order_lines({with_dim(self),
               with_dim(values),
               with_dim(indices),
               {},
               dim,
               descending,
               {all_in_order<Item32>, all_in_order<Item64>}});
}

void topk(const TensorBase& self, std::int64_t, std::int64_t dim, bool largest, bool sorted, TensorBase& values,
          TensorBase& indices) {
  const Orders orders =
      sorted ? Orders{first_in_order<Item32>, first_in_order<Item64>} : Orders{first<Item32>, first<Item64>};
  order_lines({with_dim(self), with_dim(values), with_dim(indices), {}, dim, largest, orders});
}

}  // namespace cpu

}  // namespace keyway::inline v1
