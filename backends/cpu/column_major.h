// Operands that lie column by column, as LAPACK takes them.
#pragma once

#include <keyway/backends/cpu/copy.h>
#include <keyway/backends/cpu/matrix.h>
#include <keyway/backends/cpu/parallel.h>
#include <keyway/core/tensor/tensor_base.h>
#include <keyway/ops/rules/column_major.h>

#include <algorithm>

namespace keyway::inline v1 {

inline TensorBase make_column_major(IntArrayRef sizes, ScalarType dtype) {
  return make_tensor_strided(sizes, IntArrayRef(column_major_strides(sizes)), dtype, DeviceType::CPU);
}

inline TensorBase column_major_copy(const TensorBase& matrices) {
  const TensorBase copy = make_column_major(matrices.sizes(), matrices.dtype());
  copy_elements(matrices, copy);
  return copy;
}

// A column-major tensor for a result: `out` itself if it can be, else one that finish() copies to it.
class ColumnMajorOut {
 public:
  explicit ColumnMajorOut(const TensorBase& out)
      : out_(out), target_(is_column_major(out) ? out : make_column_major(out.sizes(), out.dtype())) {}

  const TensorBase& tensor() const { return target_; }
  void finish() const {
    if (!target_.is_same(out_)) copy_elements(target_, out_);
  }

 private:
  TensorBase out_;
  TensorBase target_;
};

// The i-th matrix of a batch. Requires: the matrices lie one after another, T is their dtype, perhaps const.
template <typename T>
Matrix<T> nth_matrix(const TensorBase& matrices, std::int64_t i) {
  Matrix<T> matrix = matrix_of<T>(matrices);
  matrix.data += i * matrix.rows * matrix.columns;
  return matrix;
}

// Calls f(i) for each of `count` problems, in threads where it is worth it; one takes about `work` operations.
template <typename F>
void for_each_problem(std::int64_t count, double work, const F& f) {
  const auto grain = static_cast<std::int64_t>(std::clamp(static_cast<double>(kElementGrain) / (work + 1), 1.0, 1e6));
  parallel_for(0, count, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) f(i);
  });
}

}  // namespace keyway::inline v1
