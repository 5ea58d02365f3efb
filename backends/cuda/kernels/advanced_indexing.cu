// _index and _index_put: one index tensor for each of some dimensions, all broadcast to one shape, whose elements
// number the rows; the dimensions that have none are a row's block. The offset of each row is put together first, one
// index tensor after the other; what bounds the rest is said in indexed_rows.cu.
#include <keyway/backends/cuda/kernels/indexed_rows.cuh>
#include <keyway/backends/cuda/kernels/kernels_advanced_indexing.h>
#include <keyway/backends/cuda/kernels/offsets.h>
#include <keyway/backends/cuda/kernels/operands.h>
#include <keyway/core/tensor/iteration_space.h>
#include <keyway/ops/rules/advanced_indexing.h>

#include <utility>

namespace keyway::inline v1::cuda {

namespace {

// Where each row begins in `table`.
TensorBase row_offsets(const TensorBase& table, ArrayRef<TensorBase> indices, IntArrayRef shape) {
  Offsets offsets(shape, table.device());
  for (std::size_t d = 0; d < indices.size(); ++d) {
    if (indices[d].defined()) {
      offsets.add_wrapped_indices(indices[d], IndexedDim::of(table, static_cast<std::int64_t>(d)));
    }
  }
  return std::move(offsets).take();
}

IndexedRows rows_of(const TensorBase& table, const rules::IndexedShape& shape, const TensorBase& rows) {
  DimVector block_of_rows;
  const auto first = static_cast<std::int64_t>(shape.first_row_dim);
  const auto end = first + static_cast<std::int64_t>(shape.rows.size());
  for (std::int64_t d = 0; d < rows.dim(); ++d) {
    if (d < first || d >= end) block_of_rows.push_back(d);
  }
  return IndexedRows(table, shape.block, rows, block_of_rows);
}

}  // namespace

void _index(const TensorBase& self, ArrayRef<TensorBase> indices, TensorBase& out) {
  const rules::IndexedShape shape = rules::indexed_shape(self, indices);
  rows_of(self, shape, out).read(row_offsets(self, indices, shape.rows));
}

void _index_put(const TensorBase& self, ArrayRef<TensorBase> indices, const TensorBase& values, bool accumulate,
                TensorBase& out) {
  const rules::IndexedShape shape = rules::indexed_shape(self, indices);
  const TensorBase offsets = row_offsets(out, indices, shape.rows);
  const TensorBase from = expanded_to(apart_from(values, out), shape.sizes());
  begin_as(self, out);
  const IndexedRows rows = rows_of(out, shape, from);
  if (accumulate) {
    rows.add(offsets, 1);
  } else {
    rows.write(offsets);
  }
}

}  // namespace keyway::inline v1::cuda
