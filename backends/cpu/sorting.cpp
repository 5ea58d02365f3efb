// sort and topk: each line by itself, as pairs of value and index. NaN is greater than all numbers.
#include <keyway/backends/cpu/kernels_sorting.h>
#include <keyway/backends/cpu/panel.h>
#include <keyway/backends/cpu/scratch.h>
#include <keyway/backends/cpu/write_operands.h>
#include <keyway/core/visit_dtype.h>
#include <keyway/ops/functors/opmath.h>

#include <algorithm>
#include <vector>

namespace keyway::inline v1 {

namespace {

template <typename T>
struct Item {
  T value;
  std::int64_t index;
};

template <typename T>
bool less(T a, T b) {
  const auto x = opmath(a), y = opmath(b);
  if (is_nan(x)) return false;
  return is_nan(y) || x < y;
}

// Orders by value, and equal values by index: so a total order, in which every algorithm is stable.
template <typename T, bool descending>
struct Before {
  bool operator()(const Item<T>& a, const Item<T>& b) const {
    const bool first = descending ? less(b.value, a.value) : less(a.value, b.value);
    if (first) return true;
    const bool second = descending ? less(a.value, b.value) : less(b.value, a.value);
    return !second && a.index < b.index;
  }
};

// Calls order(read, items) for each line of self: read(i) is its item i, and `items` has room for all of them, of which
// the first `count` are written.
template <typename T, typename Order>
void each_line(const TensorBase& self, std::int64_t dim, const TensorBase& values, const TensorBase& indices,
               std::int64_t count, const Order& order) {
  const TensorBase from = with_dim(self), to = with_dim(values), places = with_dim(indices);
  const std::int64_t n = from.sizes()[static_cast<std::size_t>(dim)];
  if (count == 0) return;
  for_each_panel({&to, &places, &from}, dim, n, 16, [&](const Panel& panel) {
    Scratch<64> room(scratch_bytes<Item<T>>(n));
    Item<T>* const items = room.take<Item<T>>(n);
    for (std::int64_t j = 0; j < panel.lines; ++j) {
      const char* const line = panel.data[2] + j * panel.next[2];
      const std::int64_t step = panel.step[2];
      order([=](std::int64_t i) { return Item<T>{*reinterpret_cast<const T*>(line + i * step), i}; }, items);
      for (std::int64_t i = 0; i < count; ++i) {
        *panel.at<T>(0, i, j) = items[i].value;
        *panel.at<std::int64_t>(1, i, j) = items[i].index;
      }
    }
  });
}

template <typename T, bool descending>
void sort_lines(const TensorBase& self, std::int64_t dim, const TensorBase& values, const TensorBase& indices) {
  const std::int64_t n = self.dim() == 0 ? 1 : self.sizes()[static_cast<std::size_t>(dim)];
  each_line<T>(self, dim, values, indices, n, [n](const auto& read, Item<T>* items) {
    for (std::int64_t i = 0; i < n; ++i) items[i] = read(i);
    std::stable_sort(items, items + n, [](const Item<T>& a, const Item<T>& b) {
      return descending ? less(b.value, a.value) : less(a.value, b.value);
    });
  });
}

// The first k of n items, in no order: by a heap of those so far, whose last one most others do not come before.
template <typename T, bool largest, typename Read>
void select_few(const Read& read, std::int64_t n, std::int64_t k, Item<T>* items) {
  const Before<T, largest> before;
  for (std::int64_t i = 0; i < k; ++i) items[i] = read(i);
  std::make_heap(items, items + k, before);
  for (std::int64_t i = k; i < n; ++i) {
    const Item<T> item = read(i);  // of equal ones the first stay
    if (!(largest ? less(items->value, item.value) : less(item.value, items->value))) continue;
    std::pop_heap(items, items + k, before);
    items[k - 1] = item;
    std::push_heap(items, items + k, before);
  }
}

template <typename T, bool largest>
void select_lines(const TensorBase& self, std::int64_t k, std::int64_t dim, bool sorted, const TensorBase& values,
                  const TensorBase& indices) {
  constexpr std::int64_t kFew = 64;  // beyond, partitioning is faster
  const std::int64_t n = self.dim() == 0 ? 1 : self.sizes()[static_cast<std::size_t>(dim)];
  each_line<T>(self, dim, values, indices, k, [=](const auto& read, Item<T>* items) {
    const Before<T, largest> before;
    if (k <= kFew && k <= n / 4) {
      select_few<T, largest>(read, n, k, items);
    } else {
      for (std::int64_t i = 0; i < n; ++i) items[i] = read(i);
      if (k < n) std::nth_element(items, items + k, items + n, before);
    }
    if (sorted) std::sort(items, items + k, before);
  });
}

}  // namespace

namespace cpu {

void sort_stable(const TensorBase& self, std::optional<bool>, std::int64_t dim, bool descending, TensorBase& values,
                 TensorBase& indices) {
  if (self.numel() == 0) return;
  visit_dtype<kRealTypes | kBool>(self.dtype(), "sort", [&]<typename T>() {
    using Stored = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;
    descending ? sort_lines<Stored, true>(self, dim, values, indices)
               : sort_lines<Stored, false>(self, dim, values, indices);
  });
}

void topk(const TensorBase& self, std::int64_t k, std::int64_t dim, bool largest, bool sorted, TensorBase& values,
          TensorBase& indices) {
  if (self.numel() == 0) return;
  if (self.dim() == 0) k = 1;  // a number is the result, whatever k is: there is no dimension to be shortened
  visit_real(self.dtype(), "topk", [&]<typename T>() {
    largest ? select_lines<T, true>(self, k, dim, sorted, values, indices)
            : select_lines<T, false>(self, k, dim, sorted, values, indices);
  });
}

}  // namespace cpu

}  // namespace keyway::inline v1
