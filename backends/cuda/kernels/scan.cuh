// Scans: of every element of a row, a result from all elements up to it. Internal to backends/cuda.
//
// A team scans its row tile by tile: elements are read and results written coalesced, by way of shared memory, and each
// once, which bounds the kernel where there are many rows. Rows that are few and long are shared out among teams: a
// first kernel finds the total of each stretch, a second one scans the totals of each row, and the third begins each
// stretch where the one before it ends; so elements are read twice.
//
// What is scanned is told by a functor Of over rows of kOperands operands:
//   Acc identity() const;                                            of no elements
//   Acc operator()(Acc a, Acc b) const;                              of two neighbouring ranges of elements
//   Acc term(const Row<kOperands + 1>& row, std::int64_t i) const;   of one element
//   void write(const Row<kOperands + 1>& row, std::int64_t i, Acc acc) const;
// The first two come from a base Of::Merge, which is all that totals need. Acc is trivial, its size a power of two up
// to 16 bytes. After the functor's operands, rows have one more: the totals of their stretches.
#pragma once

#include <keyway/backends/cuda/driver/rows.cuh>

namespace keyway::inline v1::cuda {

template <typename Of>
struct Totals {
  Of of;

  __device__ void operator()(const Row<Of::kOperands + 1>& row) const {
    using Acc = typename Of::Acc;
    const auto combine = [&](Acc acc, std::int64_t i) { return of(acc, of.term(row, i)); };
    const Acc total = row.fold(of.identity(), combine, of);
    if (row.leads()) row.template at<Acc>(Of::kOperands, row.stretch()) = total;
  }
};

// Operand: totals, which become those of all stretches up to each.
template <typename Merge>
struct ScanTotals {
  Merge merge;

  __device__ void operator()(const Row<1>& row) const {
    using Acc = typename Merge::Acc;
    row.scan(
        merge.identity(), merge.identity(), [&](std::int64_t i) { return row.at<const Acc>(0, i); }, merge,
        [&](std::int64_t i, Acc acc) { row.at<Acc>(0, i) = acc; });
  }
};

// Of the totals, those up to each stretch; they are not looked at where rows have one stretch.
template <typename Of>
struct Scan {
  Of of;

  __device__ void operator()(const Row<Of::kOperands + 1>& row) const {
    using Acc = typename Of::Acc;
    Acc before = of.identity();
    if (row.n() > 0 && row.stretch() > 0) {
      before = row.template at<const Acc>(Of::kOperands, std::int64_t{row.stretch()} - 1);
    }
    row.scan(
        before, of.identity(), [&](std::int64_t i) { return of.term(row, i); }, of,
        [&](std::int64_t i, Acc acc) { of.write(row, i, acc); });
  }
};

// As `self`, but that `dim` has an element for each stretch, side by side.
template <typename Of>
TensorBase room_for_totals(const TensorBase& self, std::int64_t dim, std::int64_t stretches) {
  constexpr std::size_t kBytes = sizeof(typename Of::Acc);
  constexpr ScalarType kStored = kBytes == 16  ? ScalarType::ComplexDouble
                                 : kBytes == 8 ? kLong
                                 : kBytes == 4 ? kInt
                                 : kBytes == 2 ? kShort
                                               : kByte;
  const auto d = static_cast<std::size_t>(dim);
  DimVector sizes(self.sizes().begin(), self.sizes().end()), strides(sizes.size(), 1);
  sizes[d] = stretches;
  std::int64_t next = stretches;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    if (i == d) continue;
    strides[i] = next;
    next *= sizes[i];
  }
  return make_tensor_strided(sizes, strides, kStored, self.device());
}

// Of all stretches up to each. Requires: the rows lie along `dim` of `totals`, which is the last operand of
// `row_space`.
template <typename Of>
void find_totals(const Of& of, const RowSpace& row_space, const TensorBase& totals, std::int64_t dim) {
  rows<Of::kOperands + 1>(row_space, Totals<Of>{of}, totals.device());
  rows<1>(RowSpace(totals.sizes(), dim).tensor(totals), ScanTotals<typename Of::Merge>{of}, totals.device());
}

}  // namespace keyway::inline v1::cuda
