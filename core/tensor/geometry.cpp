#include <keyway/core/base/error.h>
#include <keyway/core/tensor/geometry.h>

#include <algorithm>
#include <numeric>

namespace keyway::inline v1 {

std::int64_t checked_numel(IntArrayRef sizes) {
  KEYWAY_CHECK(sizes.size() <= kMaxDims, "a tensor has at most {} dimensions, but {} sizes are given", kMaxDims,
               sizes.size());
  std::int64_t numel = 1;
  bool overflow = false;
  bool empty = false;
  for (std::int64_t size : sizes) {
    KEYWAY_CHECK(size >= 0, "sizes must not be negative, but are {}", sizes);
    empty = empty || size == 0;
    overflow = overflow || __builtin_mul_overflow(numel, size, &numel);
  }
  if (empty) return 0;
  KEYWAY_CHECK(!overflow, "sizes {} have a product above 2^63 - 1", sizes);
  return numel;
}

std::size_t checked_nbytes(IntArrayRef sizes, IntArrayRef strides, std::int64_t offset, std::size_t itemsize) {
  KEYWAY_CHECK(sizes.size() == strides.size(), "sizes {} and strides {} differ in length", sizes, strides);
  KEYWAY_CHECK(offset >= 0, "the storage offset must not be negative, but is {}", offset);
  bool empty = false;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    KEYWAY_CHECK(sizes[d] >= 0, "sizes must not be negative, but are {}", sizes);
    KEYWAY_CHECK(strides[d] >= 0, "strides must not be negative, but are {}", strides);
    empty = empty || sizes[d] == 0;
  }
  if (empty) return 0;
  std::int64_t last = offset;  // the last element's offset
  bool overflow = false;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    std::int64_t reach = 0;
    overflow = overflow || __builtin_mul_overflow(sizes[d] - 1, strides[d], &reach) ||
               __builtin_add_overflow(last, reach, &last);
  }
  std::int64_t bytes = 0;
  overflow = overflow || __builtin_add_overflow(last, 1, &last) ||
             __builtin_mul_overflow(last, static_cast<std::int64_t>(itemsize), &bytes);
  KEYWAY_CHECK(!overflow, "sizes {} with strides {} and offset {} reach beyond 2^63 - 1 bytes", sizes, strides, offset);
  return static_cast<std::size_t>(bytes);
}

namespace {
// Orders of the dimensions of a rank, from the innermost on: as functions of a position.
auto last_to_first(std::size_t rank) {
  return [rank](std::size_t i) { return rank - 1 - i; };
}
// Channels first, then the spatial dimensions from the last, then the batch.
auto channels_first(std::size_t rank) {
  return [rank](std::size_t i) { return i == 0 ? 1 : i + 1 == rank ? 0 : rank - i; };
}

// Without elements every layout holds; with them, products of sizes stay below 2^63.
bool has_no_elements(IntArrayRef sizes) { return std::find(sizes.begin(), sizes.end(), 0) != sizes.end(); }

template <typename Order>
DimVector strides_in_order(IntArrayRef sizes, const Order& order) {
  DimVector strides(sizes.size());
  std::int64_t stride = 1;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::size_t d = order(i);
    strides[d] = stride;
    // A tensor with a 0 among its sizes may have any others: what overflows here is never used.
    if (__builtin_mul_overflow(stride, std::max<std::int64_t>(sizes[d], 1), &stride)) stride = 0;
  }
  return strides;
}

template <typename Order>
bool is_laid_out_in(IntArrayRef sizes, IntArrayRef strides, const Order& order) {
  if (has_no_elements(sizes)) return true;
  std::int64_t expected = 1;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::size_t d = order(i);
    if (sizes[d] == 1) continue;
    if (strides[d] != expected) return false;
    expected *= sizes[d];
  }
  return true;
}

// The dimensions by their strides, the smallest first.
SmallVector<std::size_t, 6> by_stride(IntArrayRef strides) {
  SmallVector<std::size_t, 6> order(strides.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return strides[a] < strides[b]; });
  return order;
}
}  // namespace

DimVector contiguous_strides(IntArrayRef sizes) { return strides_in_order(sizes, last_to_first(sizes.size())); }

DimVector strides_for(IntArrayRef sizes, MemoryFormat format) {
  switch (format) {
    case MemoryFormat::Contiguous: return contiguous_strides(sizes);
    case MemoryFormat::ChannelsLast:
      KEYWAY_CHECK(sizes.size() == 4, "memory format channels_last needs 4 dimensions, but sizes are {}", sizes);
      break;
    case MemoryFormat::ChannelsLast3d:
      KEYWAY_CHECK(sizes.size() == 5, "memory format channels_last_3d needs 5 dimensions, but sizes are {}", sizes);
      break;
    default: KEYWAY_FAIL(Value, "memory format {} does not say how to lay out a new tensor", format);
  }
  return strides_in_order(sizes, channels_first(sizes.size()));
}

bool is_contiguous(IntArrayRef sizes, IntArrayRef strides) {
  return is_laid_out_in(sizes, strides, last_to_first(sizes.size()));
}

bool is_channels_last(IntArrayRef sizes, IntArrayRef strides) {
  return (sizes.size() == 4 || sizes.size() == 5) && is_laid_out_in(sizes, strides, channels_first(sizes.size()));
}

bool is_non_overlapping_and_dense(IntArrayRef sizes, IntArrayRef strides) {
  if (is_contiguous(sizes, strides)) return true;
  const auto order = by_stride(strides);
  return is_laid_out_in(sizes, strides, [&](std::size_t i) { return order[i]; });
}

bool overlaps_itself(IntArrayRef sizes, IntArrayRef strides) {
  if (has_no_elements(sizes)) return false;
  std::int64_t reach = 0;  // furthest offset that the dimensions so far lead to
  for (const std::size_t d : by_stride(strides)) {
    if (sizes[d] == 1) continue;
    if (strides[d] <= reach) return true;
    reach += (sizes[d] - 1) * strides[d];
  }
  return false;
}

std::int64_t wrap_dim(std::int64_t dim, std::int64_t rank) {
  const std::int64_t dims = std::max<std::int64_t>(rank, 1);
  KEYWAY_CHECK_AS(Index, -dims <= dim && dim < dims, "dimension {} is out of range: it must be from {} to {}", dim,
                  -dims, dims - 1);
  return dim < 0 ? dim + dims : dim;
}

std::size_t dim_index(std::int64_t dim, std::int64_t rank) {
  KEYWAY_CHECK_AS(Index, rank > 0, "dimension {} is out of range: there are no dimensions", dim);
  return static_cast<std::size_t>(wrap_dim(dim, rank));
}

}  // namespace keyway::inline v1
