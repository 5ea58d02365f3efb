// Indexed rows: a table whose blocks are found by offset, and a dense tensor with one block per row.
//
//   table[offsets[r]] <-> rows[r]
//
// index_select, embedding, index, index_put and index_add are this, with other dimensions for table, rows and
// blocks.
#pragma once

#include <keyway/backends/cpu/parallel.h>
#include <keyway/backends/cpu/scratch.h>
#include <keyway/core/base/small_vector.h>
#include <keyway/core/tensor/iteration_space.h>
#include <keyway/core/tensor/tensor_base.h>

#include <algorithm>
#include <cstdint>

namespace keyway::inline v1 {

class IndexedRows {
 public:
  // The dimensions `block_of_table` of `table` and `block_of_rows` of `rows` are a block's, in this order and
  // of equal sizes; `row_dims` of `rows` are the others, whose indices, the last fastest, number the rows.
  IndexedRows(const TensorBase& table, IntArrayRef block_of_table, const TensorBase& rows, IntArrayRef block_of_rows,
              IntArrayRef row_dims);

  std::int64_t rows() const { return rows_; }
  bool empty() const { return rows_ == 0 || block_numel_ == 0; }

  // Calls f(table, row, n, table_stride, row_stride) for runs of n elements that are together all rows;
  // strides in bytes. `offsets` has a number of bytes for each row. Rows, or where these lie closer together, elements
  // of the block are shared out among threads: f may write to `row` only.
  template <typename F>
  void each_row(const std::int64_t* offsets, const F& f) const {
    if (empty()) return;
    const std::int64_t count = is_across_ ? block_numel_ : rows_, work = is_across_ ? rows_ : block_numel_;
    parallel_for(0, count, std::max<std::int64_t>(1, kElementGrain / work), [&](std::int64_t begin, std::int64_t end) {
      is_across_ ? walk_across(offsets, begin, end, f) : walk(block_, offsets, begin, end, f);
    });
  }
  // The same for f that writes to `table`: every block is cut alike among threads, and each row after row.
  template <typename F>
  void each_part(const std::int64_t* offsets, const F& f) const {
    if (empty()) return;
    if (widest_ < 0 && row_strides_.size() == 1) return walk_across(offsets, 0, 1, f);
    if (widest_ < 0) return walk(block_, offsets, 0, rows_, f);
    if (is_across_) {  // an element of the table is one thread's here too
      return parallel_for(0, block_numel_, std::max<std::int64_t>(1, kElementGrain / rows_),
                          [&](std::int64_t begin, std::int64_t end) { walk_across(offsets, begin, end, f); });
    }
    const std::int64_t width = block_.sizes[widest_];
    const std::int64_t work = std::max<std::int64_t>(1, block_numel_ / width * std::min(rows_, kElementGrain));
    parallel_for(0, width, std::max<std::int64_t>(1, kElementGrain / work), [&](std::int64_t begin, std::int64_t end) {
      IterationSpace part = block_;
      part.sizes[widest_] = end - begin;
      for (int k = 0; k < 2; ++k) part.data[k] += begin * part.strides[k][widest_];
      walk(part, offsets, 0, rows_, f);
    });
  }

 private:
  template <typename F>
  void walk(const IterationSpace& block, const std::int64_t* offsets, std::int64_t begin, std::int64_t end,
            const F& f) const {
    for (std::int64_t r = begin; r < end; ++r) {
      char* const to = block.data[1] + row_offset(r);
      walk_block(block, block.rank - 1, block.data[0] + offsets[r], to, f);
    }
  }
  // One element of the block after the other, each in all rows, which are one run.
  template <typename F>
  void walk_across(const std::int64_t* offsets, std::int64_t begin, std::int64_t end, const F& f) const {
    for (std::int64_t element = begin; element < end; ++element) {
      char* data[2] = {block_.data[0], block_.data[1]};
      for (std::int64_t d = 0, rest = element; d < block_.rank; rest /= block_.sizes[d++]) {
        for (int k = 0; k < 2; ++k) data[k] += rest % block_.sizes[d] * block_.strides[k][d];
      }
      // Numbers of their own: `this` might change with what f writes.
      const std::int64_t rows = rows_, stride = row_strides_[0];
      for (std::int64_t r = 0; r < rows; ++r) f(data[0] + offsets[r], data[1] + r * stride, 1, 0, 0);
    }
  }
  template <typename F>
  void walk_block(const IterationSpace& block, int d, char* table, char* to, const F& f) const {
    if (d <= 0) return f(table, to, block.size(0), block.stride(0, 0), block.stride(1, 0));
    for (std::int64_t i = 0; i < block.sizes[d]; ++i) {
      walk_block(block, d - 1, table + i * block.strides[0][d], to + i * block.strides[1][d], f);
    }
  }
  std::int64_t row_offset(std::int64_t index) const {
    std::int64_t offset = 0;
    for (std::size_t d = row_sizes_.size(); d-- > 1;) {
      offset += index % row_sizes_[d] * row_strides_[d];
      index /= row_sizes_[d];
    }
    return row_sizes_.empty() ? 0 : offset + index * row_strides_[0];
  }

  IterationSpace block_;
  std::int64_t block_numel_ = 1;
  int widest_ = -1;         // the largest dimension of a block
  bool is_across_ = false;  // elements of a row are further apart than rows, which are many and one run
  DimVector row_sizes_;
  DimVector row_strides_;  // bytes
  std::int64_t rows_ = 1;
};

// From a list of indices to offsets: adds `stride` bytes for each.
inline void add_offsets(const ScratchArray<std::int64_t>& offsets, const std::int64_t* indices, std::int64_t stride) {
  for (std::int64_t r = 0; r < offsets.size(); ++r) offsets[r] += indices[r] * stride;
}

}  // namespace keyway::inline v1
