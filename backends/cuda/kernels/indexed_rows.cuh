// Indexed rows: a table whose blocks are found by offset, and a dense tensor with one block per row.
//
//   table[offsets[r]] <-> rows[r]
//
// index_select, embedding, index, index_put, index_add and scatter are this, with other dimensions for table, rows and
// blocks. Internal to backends/cuda.
#pragma once

#include <keyway/backends/cuda/driver/each.cuh>
#include <keyway/backends/cuda/kernels/targets.cuh>
#include <keyway/core/base/small_vector.h>
#include <keyway/core/scalar.h>
#include <keyway/core/tensor_base.h>

#include <cstdint>

namespace keyway::inline v1::cuda {

// The dimensions of a tensor of `rank` dimensions but one.
DimVector dims_but(std::int64_t rank, std::int64_t dim);

class IndexedRows {
 public:
  // The dimensions `block_of_table` of `table` and `block_of_rows` of `rows` are a block's, in this order and of equal
  // sizes; the others of `rows`, whose indices, the last fastest, number the rows, are neighbours.
  IndexedRows(const TensorBase& table, IntArrayRef block_of_table, const TensorBase& rows, IntArrayRef block_of_rows);

  // `offsets` has as many elements as there are rows; where one is below 0, nothing is done (offsets.h).
  // rows[r] = table[offsets[r]]
  void read(const TensorBase& offsets) const;
  // table[offsets[r]] = rows[r], row after row.
  void write(const TensorBase& offsets) const;
  // table[offsets[r]] += alpha rows[r], row after row.
  void add(const TensorBase& offsets, const Scalar& alpha) const;
  // table[offsets[r]] = f of what it was and the rows, of Ts: see FoldRun.
  template <typename T, typename F>
  void fold(const TensorBase& offsets, const F& f) const {
    if (empty()) return;
    const Targets targets(offsets);
    const Writes writes = in_order();
    each<3>(writes.space, FoldRun<T, F>{targets.runs(), writes.row_step, f}, rows_.device());
  }

 private:
  // The writes to the table as the functors of targets.cuh want them; `rows` is what they read.
  struct Writes {
    TensorBase rows;
    Strided space;
    std::int64_t row_step;
  };

  bool empty() const { return rows_.numel() == 0; }
  Writes in_order() const;
  // As `rows_`, with one dimension for all rows: a copy if their places are not one step apart.
  TensorBase rows_as_one_dim() const;

  TensorBase table_, rows_;
  DimVector block_strides_;  // of the table, along the dimensions of rows_; 0 along those that number rows
  std::size_t first_ = 0;    // of those
  std::size_t count_ = 0;
  std::int64_t table_steps_ = 0;  // whatever power of two divides this divides how far blocks are apart, in bytes
};

}  // namespace keyway::inline v1::cuda
