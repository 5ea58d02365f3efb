// _index and _index_put: one index tensor for each of some dimensions, all broadcast to one shape, whose
// elements number the rows; the dimensions that have none are a row's block.
#include <keyway/backends/cpu/element_bits.h>
#include <keyway/backends/cpu/index_list.h>
#include <keyway/backends/cpu/indexed_rows.h>
#include <keyway/backends/cpu/indexed_sums.h>
#include <keyway/backends/cpu/kernels_advanced_indexing.h>
#include <keyway/backends/cpu/operands.h>
#include <keyway/core/tensor/iteration_space.h>
#include <keyway/ops/rules/advanced_indexing.h>

#include <cstring>

namespace keyway::inline v1 {

namespace {

// Where each row begins in `self`, in bytes. Throws for an index out of range.
ScratchArray<std::int64_t> row_offsets(const TensorBase& self, ArrayRef<TensorBase> indices, IntArrayRef shape) {
  ScratchArray<std::int64_t> offsets(checked_numel(shape), 0);
  for (std::size_t d = 0; d < indices.size(); ++d) {
    if (!indices[d].defined()) continue;
    const std::int64_t size = self.sizes()[d];
    TensorBase list = index_list(indices[d], "indices", -size, size);
    if (list.sizes() != shape) {
      const TensorBase expanded = make_tensor(shape, kLong, DeviceType::CPU);
      copy_elements(list, expanded);
      list = expanded;
    }
    add_offsets(offsets, static_cast<const std::int64_t*>(list.data_ptr()),
                self.strides()[d] * static_cast<std::int64_t>(self.itemsize()));
  }
  return offsets;
}

IndexedRows rows_of(const TensorBase& table, const rules::IndexedShape& shape, const TensorBase& rows) {
  DimVector row_dims, block_of_rows;
  const auto first = static_cast<std::int64_t>(shape.first_row_dim);
  const auto end = first + static_cast<std::int64_t>(shape.rows.size());
  for (std::int64_t d = 0; d < rows.dim(); ++d) {
    (first <= d && d < end ? row_dims : block_of_rows).push_back(d);
  }
  return IndexedRows(table, shape.block, rows, block_of_rows, row_dims);
}

}  // namespace

namespace cpu {

void _index(const TensorBase& self, ArrayRef<TensorBase> indices, TensorBase& out) {
  const rules::IndexedShape shape = rules::indexed_shape(self, indices);
  const auto offsets = row_offsets(self, indices, shape.rows);
  visit_bits(self.itemsize(), [&]<typename T>() {
    rows_of(self, shape, out)
        .each_row(offsets.data(),
                  [](char* table, char* row, std::int64_t n, std::int64_t table_step, std::int64_t row_step) {
                    if (table_step == sizeof(T) && row_step == sizeof(T)) {
                      std::memcpy(row, table, static_cast<std::size_t>(n) * sizeof(T));
                      return;
                    }
                    for (std::int64_t i = 0; i < n; ++i)
                      std::memcpy(row + i * row_step, table + i * table_step, sizeof(T));
                  });
  });
}

void _index_put(const TensorBase& self, ArrayRef<TensorBase> indices, const TensorBase& values, bool accumulate,
                TensorBase& out) {
  const rules::IndexedShape shape = rules::indexed_shape(self, indices);
  const auto offsets = row_offsets(out, indices, shape.rows);
  const TensorBase from = expanded_to(apart_from(values, out), shape.sizes());
  begin_as(self, out);
  const IndexedRows rows = rows_of(out, shape, from);
  if (!accumulate) {
    return visit_bits(self.itemsize(), [&]<typename T>() {
      rows.each_part(offsets.data(),
                     [](char* table, char* row, std::int64_t n, std::int64_t table_step, std::int64_t row_step) {
                       for (std::int64_t i = 0; i < n; ++i)
                         std::memcpy(table + i * table_step, row + i * row_step, sizeof(T));
                     });
    });
  }
  add_rows(out, rows, offsets, 1);
}

}  // namespace cpu

}  // namespace keyway::inline v1
