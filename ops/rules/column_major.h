// Matrices that lie in memory column by column, one after another: as LAPACK and cuSOLVER want them, and as PyTorch
// lays out results of theirs.
#pragma once

#include <keyway/core/tensor/geometry.h>
#include <keyway/ops/rules/output_meta.h>

#include <algorithm>
#include <cstddef>

namespace keyway::inline v1 {

// Requires: two sizes or more.
inline DimVector column_major_strides(IntArrayRef sizes) {
  DimVector strides = contiguous_strides(sizes);
  const std::size_t rows = sizes.size() - 2;
  strides[rows] = 1;
  strides[rows + 1] = std::max<std::int64_t>(sizes[rows], 1);
  return strides;
}

inline bool is_column_major(const TensorBase& matrices) {
  return matrices.strides() == IntArrayRef(column_major_strides(matrices.sizes()));
}

inline OutputMeta meta_column_major(IntArrayRef sizes) { return {DimVector(sizes), column_major_strides(sizes)}; }

// All sizes but the last two.
inline IntArrayRef batch_sizes(const TensorBase& matrices) {
  return matrices.sizes().slice(0, matrices.sizes().size() - 2);
}
inline std::int64_t rows_of(const TensorBase& matrices) { return matrices.sizes()[matrices.sizes().size() - 2]; }
inline std::int64_t columns_of(const TensorBase& matrices) { return matrices.sizes().back(); }
// The product of sizes of a tensor, which is known not to overflow.
inline std::int64_t count_of(IntArrayRef sizes) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  return count;
}
// `sizes` with others behind them.
inline DimVector sizes_with(IntArrayRef sizes, std::initializer_list<std::int64_t> last) {
  DimVector all(sizes);
  for (const std::int64_t size : last) all.push_back(size);
  return all;
}
// The sizes that matrices are used in beside a batch of others: as they are if there is one for all, else one for each.
inline DimVector sizes_beside(const TensorBase& matrices, IntArrayRef batch) {
  const bool is_one = count_of(batch_sizes(matrices)) == 1;
  return sizes_with(is_one ? IntArrayRef() : batch, {rows_of(matrices), columns_of(matrices)});
}
// Whether matrices lie one after another, in rows or in columns, as many as `sizes` say.
inline bool lie_as(const TensorBase& matrices, IntArrayRef sizes) {
  return (matrices.is_contiguous() || is_column_major(matrices)) && matrices.numel() == count_of(sizes);
}

}  // namespace keyway::inline v1
