// run_wide_rows: kernels over rows (row_loop.h) that have 16-bit floats as float32, some rows at a time, which stay in
// a cache.
//
// `Rows` has besides
//   using Acc = ...;                                what it has elements as, float or double
//   static constexpr std::size_t kInputs = ...;
//   const Acc* input[kInputs];                      rows `first` and on of each input,
//   Acc* out;                                       and of the result, if it writes one; null if it is not wanted
//   std::int64_t first;
#pragma once

#include <keyway/backends/common/operands.h>
#include <keyway/backends/cpu/element_cast.h>
#include <keyway/backends/cpu/row_loop.h>
#include <keyway/backends/cpu/scratch.h>
#include <keyway/core/dtype/cpp_type.h>
#include <keyway/core/tensor/tensor_base.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace keyway::inline v1 {

template <typename Rows>
inline constexpr bool kWritesRows = requires(Rows rows) {
  rows.out;
};

template <typename Rows>
using RowInputs = std::array<TensorBase, Rows::kInputs>;

namespace detail {

// Rows of 16-bit floats.
template <typename Rows>
class WideRows {
 public:
  WideRows(const Rows& rows, const RowInputs<Rows>& inputs, const TensorBase& out)
      : rows_(rows),
        from_(inputs),
        to_(out),
        writes_(kWritesRows<Rows> && out.defined()),
        block_(std::max<std::int64_t>(1, 4096 / std::max<std::int64_t>(1, rows.width))),
        widen_(kAcc, inputs[0].dtype(), current_level()),
        round_(inputs[0].dtype(), kAcc, current_level()) {}

  void run(std::int64_t begin, std::int64_t end) const {
    const Loop loop = kLoopsOf<RowsBody, Rows>[current_level()];
    const std::int64_t cells = block_ * rows_.width;
    const ScratchArray<Acc> input(static_cast<std::int64_t>(Rows::kInputs) * cells), out(writes_ ? cells : 0);
    for (; begin < end; begin += block_) {
      Rows part = rows_;
      part.first = part.begin = begin;
      part.end = std::min(end, begin + block_);
      const std::int64_t n = (part.end - begin) * rows_.width;
      for (std::size_t k = 0; k < Rows::kInputs; ++k) {
        Acc* const wide = input.data() + static_cast<std::int64_t>(k) * cells;
        widen_.run(wide, at(from_[k], begin), n);
        part.input[k] = wide;
      }
      if constexpr (kWritesRows<Rows>) part.out = writes_ ? out.data() : nullptr;
      loop(&part, nullptr, 0);
      if (writes_) round_.run(at(to_, begin), out.data(), n);
    }
  }

 private:
  using Acc = typename Rows::Acc;
  static constexpr ScalarType kAcc = cpp_type_to_scalar_type<Acc>;

  char* at(const TensorBase& tensor, std::int64_t row) const {
    return static_cast<char*>(tensor.data_ptr()) + row * rows_.width * static_cast<std::int64_t>(tensor.itemsize());
  }

  const Rows& rows_;
  const RowInputs<Rows>& from_;
  const TensorBase& to_;
  bool writes_;
  std::int64_t block_;
  ElementCast widen_;
  ElementCast round_;
};

}  // namespace detail

// As run_rows(). Requires: all are row-major and of one dtype, that of Acc or of 16-bit floats; `out` may be undefined.
template <typename Rows>
void run_wide_rows(const Rows& rows, std::int64_t count, const RowInputs<Rows>& inputs, const TensorBase& out,
                   std::int64_t unit = 1) {
  using Acc = typename Rows::Acc;
  if (inputs[0].dtype() == cpp_type_to_scalar_type<Acc>) {
    Rows all = rows;
    for (std::size_t k = 0; k < Rows::kInputs; ++k) all.input[k] = static_cast<const Acc*>(inputs[k].data_ptr());
    if constexpr (kWritesRows<Rows>) all.out = data_or_null<Acc>(out);
    return run_rows(all, count, unit);
  }
  const detail::WideRows<Rows> wide(rows, inputs, out);
  parallel_for_rows(rows.width, count, unit, [&](std::int64_t begin, std::int64_t end) { wide.run(begin, end); });
}

}  // namespace keyway::inline v1
