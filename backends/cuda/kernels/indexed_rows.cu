// Reading and writing indexed rows. Bound by memory: a block that is contiguous on both sides moves in units of up to
// 16 bytes, neighbouring threads at neighbouring ones. Writes are put in order first (targets.cuh).
#include <keyway/backends/cuda/kernels/element_bits.h>
#include <keyway/backends/cuda/kernels/indexed_rows.cuh>
#include <keyway/backends/cuda/kernels/operands.h>
#include <keyway/core/dtype/visit_dtype.h>
#include <keyway/ops/functors/arithmetic.h>

#include <algorithm>

namespace keyway::inline v1::cuda {

namespace {

// Operands: the row, its offset, the table's block at offset 0.
template <typename T>
struct ReadRow {
  KEYWAY_HD void operator()(const Element<3>& element) const {
    const std::int64_t offset = element.at<const std::int64_t>(1);
    if (offset >= 0) element.at<T>(0) = *reinterpret_cast<const T*>(element.address(2) + offset);
  }
};

// Folds with the CPU's additions: in the accumulation's type, rounded once.
template <typename T>
struct AddRows {
  using Acc = Opmath<T>;
  Add<Acc> sum;

  KEYWAY_HD Acc begin(T own) const { return opmath(own); }
  KEYWAY_HD Acc none() const { return Acc(); }
  KEYWAY_HD Acc merge(Acc a, Acc b) const { return plus(a, b); }
  KEYWAY_HD Acc add(Acc all, T x) const { return sum(all, opmath(x)); }
  KEYWAY_HD T end(Acc all, std::int64_t) const { return static_cast<T>(all); }
};

std::int64_t step_of(const TensorBase& tensor, std::size_t d) {
  return tensor.strides()[d] * static_cast<std::int64_t>(tensor.itemsize());
}

// Makes of runs of elements, which all operands but `still` go along one by one, runs of fewer wide ones. Returns how
// wide, in bytes. `steps` are those that are not in the space.
std::size_t widen(IterationSpace& space, std::size_t itemsize, int still, std::int64_t steps) {
  const auto item = static_cast<std::int64_t>(itemsize);
  if (space.rank == 0 || space.strides[still][0] != 0) return itemsize;
  std::int64_t all = steps;
  for (int k = 0; k < space.operands; ++k) {
    if (k == still) continue;
    if (space.strides[k][0] != item) return itemsize;
    all |= static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(space.data[k]));
    for (int d = 1; d < space.rank; ++d) all |= space.strides[k][d];
  }
  const auto fits = [&](std::int64_t width) {
    const std::int64_t elements = width / item;
    return width <= 16 && all % width == 0 && space.sizes[0] % elements == 0 && space.sizes[0] > elements;
  };
  std::int64_t width = item;
  while (fits(2 * width)) width *= 2;
  space.sizes[0] /= width / item;
  for (int k = 0; k < space.operands; ++k) {
    if (k != still) space.strides[k][0] = width;
  }
  return static_cast<std::size_t>(width);
}

}  // namespace

IndexedRows::IndexedRows(const TensorBase& table, IntArrayRef block_of_table, const TensorBase& rows,
                         IntArrayRef block_of_rows)
    : table_(table), rows_(rows), block_strides_(rows.sizes().size(), 0) {
  DimVector of_block(rows.sizes().size(), 0);
  for (std::size_t i = 0; i < block_of_rows.size(); ++i) {
    const auto at = static_cast<std::size_t>(block_of_rows[i]);
    of_block[at] = 1;
    block_strides_[at] = table.strides()[static_cast<std::size_t>(block_of_table[i])];
  }
  count_ = of_block.size() - block_of_rows.size();
  first_ =
      count_ == 0 ? 0 : static_cast<std::size_t>(std::find(of_block.begin(), of_block.end(), 0) - of_block.begin());
  for (std::size_t d = 0; d < table.sizes().size(); ++d) {
    if (std::find(block_of_table.begin(), block_of_table.end(), static_cast<std::int64_t>(d)) == block_of_table.end())
      table_steps_ |= step_of(table, d);
  }
}

void IndexedRows::read(const TensorBase& offsets) const {
  if (empty()) return;
  const IntArrayRef sizes = rows_.sizes();
  DimVector strides(sizes.size(), 0);
  std::int64_t next = 1;
  for (std::size_t d = first_ + count_; d-- > first_;) {
    strides[d] = next;
    next *= sizes[d];
  }
  const TensorBase at = make_view(offsets, sizes, strides, offsets.storage_offset());
  const TensorBase block = make_view(table_, sizes, block_strides_, table_.storage_offset());
  IterationSpace space = ElementSpace(sizes).tensor(rows_).tensor(at).tensor(block).space();
  visit_bits(widen(space, rows_.itemsize(), 1, table_steps_),
             [&]<typename T>() { each<3>(space, ReadRow<T>{}, rows_.device()); });
}

TensorBase IndexedRows::rows_as_one_dim() const {
  const IntArrayRef sizes = rows_.sizes(), strides = rows_.strides();
  DimVector merged(sizes.slice(0, first_)), steps(strides.slice(0, first_));
  std::int64_t n = 1, step = 0;
  for (std::size_t d = first_ + count_; d-- > first_;) {
    if (sizes[d] == 1) continue;
    if (n == 1) step = strides[d];
    if (strides[d] != n * step) {
      const TensorBase copy = make_tensor(sizes, rows_.dtype(), rows_.device());
      copy_elements(rows_, copy);
      IndexedRows dense(*this);
      dense.rows_ = copy;
      return dense.rows_as_one_dim();
    }
    n *= sizes[d];
  }
  merged.push_back(n);
  steps.push_back(step);
  for (std::size_t d = first_ + count_; d < sizes.size(); ++d) {
    merged.push_back(sizes[d]);
    steps.push_back(strides[d]);
  }
  return make_view(rows_, merged, steps, rows_.storage_offset());
}

IndexedRows::Writes IndexedRows::in_order() const {
  const TensorBase rows = rows_as_one_dim();
  DimVector strides(IntArrayRef(block_strides_).slice(0, first_));
  strides.push_back(0);
  for (const std::int64_t stride : IntArrayRef(block_strides_).slice(first_ + count_)) strides.push_back(stride);
  const TensorBase block = make_view(table_, rows.sizes(), strides, table_.storage_offset());
  return {rows, block, static_cast<std::int64_t>(first_), step_of(rows, first_)};
}

ElementSpace IndexedRows::Writes::element_space() const {
  return ElementSpace(rows.sizes()).tensor(block).line(rows, dim).coordinate(dim);
}

TensorBase IndexedRows::Writes::room_for_segments(ScalarType dtype) const {
  DimVector sizes(rows.sizes().begin(), rows.sizes().end());
  std::int64_t& count = sizes[static_cast<std::size_t>(dim)];
  if (count <= kSegment) return {};
  count = (count + kSegment - 1) / kSegment;
  return make_tensor(sizes, dtype, rows.device());
}

void IndexedRows::write(const TensorBase& offsets) const {
  if (empty()) return;
  const Targets targets(offsets);
  const Writes writes = in_order();
  IterationSpace space = writes.element_space().space();
  visit_bits(widen(space, rows_.itemsize(), 2, table_steps_ | writes.row_step), [&]<typename T>() {
    each<3>(space, WriteLast<T>{targets.runs(), writes.row_step}, rows_.device());
  });
}

void IndexedRows::add(const TensorBase& offsets, const Scalar& alpha) const {
  if (empty()) return;
  visit_any(rows_.dtype(), "indexed rows",
            [&]<typename T>() { fold<T>(offsets, AddRows<T>{{alpha.to<Opmath<T>>()}}); });
}

}  // namespace keyway::inline v1::cuda
