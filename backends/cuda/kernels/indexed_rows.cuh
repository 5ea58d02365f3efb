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
#include <keyway/core/dtype/cpp_type.h>
#include <keyway/core/dtype/scalar.h>
#include <keyway/core/tensor/tensor_base.h>

#include <cstdint>

namespace keyway::inline v1::cuda {

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
  // table[offsets[r]] = f of what it was and the rows, of Ts: see Folded.
  template <typename T, typename F>
  void fold(const TensorBase& offsets, const F& f) const {
    if (empty()) return;
    const Targets targets(offsets);
    const Writes writes = in_order();
    const Folded<T, F> folded{targets.runs(), writes.row_step, f};
    const TensorBase segments = writes.room_for_segments(cpp_type_to_scalar_type<typename Folded<T, F>::Acc>);
    if (segments.defined()) {
      const IterationSpace space =
          ElementSpace(segments.sizes()).tensor(segments).line(writes.rows, writes.dim).coordinate(writes.dim).space();
      each<3>(space, FoldSegment<T, F>{folded}, rows_.device());
    }
    const TensorBase& last = segments.defined() ? segments : writes.rows;
    const std::int64_t step = last.strides()[static_cast<std::size_t>(writes.dim)] * std::int64_t(last.itemsize());
    each<4>(writes.element_space().line(last, writes.dim).space(), FoldRun<T, F>{folded, step}, rows_.device());
  }

 private:
  // The writes to the table as the functors of targets.cuh want them, which read `rows`, whose dimension `dim` numbers
  // them, and write to `block`, that of offset 0.
  struct Writes {
    TensorBase rows, block;
    std::int64_t dim, row_step;

    ElementSpace element_space() const;
    // One result for each kSegment rows; undefined if there are no more than that.
    TensorBase room_for_segments(ScalarType dtype) const;
  };

  bool empty() const { return rows_.numel() == 0; }
  Writes in_order() const;
  // As `rows_`, with one dimension for all rows: a copy if their offsets are not one step apart.
  TensorBase rows_as_one_dim() const;

  TensorBase table_, rows_;
  DimVector block_strides_;  // of the table, along the dimensions of rows_; 0 along those that number rows
  std::size_t first_ = 0;    // of those
  std::size_t count_ = 0;
  std::int64_t table_steps_ = 0;  // whatever power of two divides this divides how far blocks are apart, in bytes
};

}  // namespace keyway::inline v1::cuda
