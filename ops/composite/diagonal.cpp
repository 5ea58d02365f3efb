#include <keyway/ops/all.h>
#include <keyway/ops/composite/options.h>
#include <keyway/ops/diagonal_composites.h>

#include <algorithm>
#include <cstdlib>

namespace keyway::inline v1::composite {

namespace {

// How many there are below `bound` of each of `count` numbers from `first` on, all cut to 0 ... bound, added up.
// Requires: |first| <= 2^62. Throws for more than 2^63 - 1.
std::int64_t sum_of_clamped(std::int64_t first, std::int64_t count, std::int64_t bound) {
  __extension__ using Wide = __int128;
  const auto below = [&](Wide n) {  // the sum over 0 ... n - 1
    if (n <= 0) return Wide{0};
    const Wide rising = std::min<Wide>(n, bound);
    return rising * (rising - 1) / 2 + (n - rising) * bound;
  };
  const Wide sum = below(Wide{first} + count) - below(first);
  KEYWAY_CHECK(sum <= INT64_MAX, "the matrix has more than 2^63 - 1 elements");
  return static_cast<std::int64_t>(sum);
}

// Of row i the `counts[i]` columns from `first[i]` on; `total` of all rows.
Tensor triangle(const Tensor& first, const Tensor& counts, std::int64_t total, const TensorOptions& options) {
  const Tensor rows = keyway::repeat_interleave(counts, std::optional(total));  // not so many times each
  const Tensor begin = counts.cumsum(0) - counts - first;
  const Tensor indices = keyway::arange(total, TensorOptions(counts.device()).dtype(kLong));
  return keyway::empty({2, total}, options).copy_(keyway::stack({rows, indices - begin.index_select(0, rows)}));
}

// Row numbers plus an offset, which no matrix needs to be larger than 2^62.
Tensor shifted_rows(std::int64_t row, std::int64_t& offset, const TensorOptions& options) {
  offset = std::clamp<std::int64_t>(offset, -(std::int64_t{1} << 62), std::int64_t{1} << 62);
  return keyway::arange(row, TensorOptions(options).dtype(kLong).pinned_memory(false)) + offset;
}

}  // namespace

Tensor diag(const Tensor& self, std::int64_t diagonal) {
  return self.dim() == 1 ? self.diag_embed(diagonal) : self.diagonal(diagonal).clone();
}

Tensor diag_embed(const Tensor& self, std::int64_t offset, std::int64_t dim1, std::int64_t dim2) {
  const std::int64_t rank = self.dim() + 1, length = self.size(-1) + std::abs(offset);
  const std::int64_t first = wrap_dim(dim1, rank), second = wrap_dim(dim2, rank);
  DimVector sizes(self.sizes().slice(0, self.sizes().size() - 1));
  sizes.insert(static_cast<std::size_t>(std::min(first, second)), length);
  sizes.insert(static_cast<std::size_t>(std::max(first, second)), length);
  Tensor result = keyway::zeros(sizes, self.options());
  result.diagonal(offset, first, second).copy_(self);
  return result;
}

Tensor diagflat(const Tensor& self, std::int64_t offset) { return self.reshape({self.numel()}).diag_embed(offset); }

// What lies below the first square of a tall matrix and one row between is a matrix again.
Tensor& fill_diagonal_(Tensor& self, const Scalar& fill_value, bool wrap) {
  if (self.numel() == 0) return self;
  const Tensor result = self.clone();
  if (self.dim() > 2) {
    Tensor diagonal = result;
    while (diagonal.dim() > 1) diagonal = diagonal.diagonal();
    diagonal.fill_(fill_value);
    return self.copy_(result);
  }
  const std::int64_t rows = self.size(0), period = self.size(1) + 1;
  for (std::int64_t row = 0; row < rows && (row == 0 || wrap); row += period)
    result.narrow(0, row, rows - row).diagonal().fill_(fill_value);
  return self.copy_(result);
}

Tensor trace(const Tensor& self) { return self.diagonal().sum(); }

Tensor tril_indices(std::int64_t row, std::int64_t col, std::int64_t offset, std::optional<ScalarType> dtype,
                    std::optional<Layout> layout, std::optional<Device> device, std::optional<bool> pin_memory) {
  const TensorOptions options = options_of(dtype, layout, device, pin_memory);
  const Tensor counts = (shifted_rows(row, offset, options) + 1).clamp(0, col);
  return triangle(keyway::zeros_like(counts), counts, sum_of_clamped(offset + 1, row, col), options);
}

Tensor triu_indices(std::int64_t row, std::int64_t col, std::int64_t offset, std::optional<ScalarType> dtype,
                    std::optional<Layout> layout, std::optional<Device> device, std::optional<bool> pin_memory) {
  const TensorOptions options = options_of(dtype, layout, device, pin_memory);
  const Tensor first = shifted_rows(row, offset, options).clamp(0, col);
  return triangle(first, col - first, checked_numel({row, col}) - sum_of_clamped(offset, row, col), options);
}

}  // namespace keyway::inline v1::composite
