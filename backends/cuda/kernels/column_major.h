// Operands that lie column by column, as cuSOLVER takes them. Internal to backends/cuda.
#pragma once

#include <keyway/backends/cuda/driver/cusolver.h>
#include <keyway/backends/cuda/kernels/copy_elements.h>
#include <keyway/core/tensor/tensor_base.h>
#include <keyway/ops/rules/column_major.h>

#include <cstddef>
#include <utility>

namespace keyway::inline v1::cuda {

inline TensorBase make_column_major(IntArrayRef sizes, ScalarType dtype, Device device) {
  return make_tensor_strided(sizes, IntArrayRef(column_major_strides(sizes)), dtype, device);
}

inline TensorBase column_major_copy(const TensorBase& matrices) {
  const TensorBase copy = make_column_major(matrices.sizes(), matrices.dtype(), matrices.device());
  if (copy.numel() > 0) copy_elements(matrices, copy);
  return copy;
}

// A column-major tensor for a result: `out` itself if it can be, else one that finish() copies to it.
class ColumnMajorOut {
 public:
  explicit ColumnMajorOut(const TensorBase& out)
      : out_(out), target_(is_column_major(out) ? out : make_column_major(out.sizes(), out.dtype(), out.device())) {}

  const TensorBase& tensor() const { return target_; }
  void finish() const {
    if (out_.numel() > 0 && !target_.is_same(out_)) copy_elements(target_, out_);
  }

 private:
  TensorBase out_;
  TensorBase target_;
};

// A view of the transposes of matrices.
inline TensorBase transposed(const TensorBase& matrices) {
  DimVector sizes(matrices.sizes()), strides(matrices.strides());
  std::swap(sizes[sizes.size() - 2], sizes[sizes.size() - 1]);
  std::swap(strides[strides.size() - 2], strides[strides.size() - 1]);
  return make_view(matrices, IntArrayRef(sizes), IntArrayRef(strides), matrices.storage_offset());
}

// The i-th matrix of a batch that lies one after another.
inline DeviceMatrix nth_matrix(const TensorBase& matrices, std::int64_t i) {
  const std::int64_t rows = rows_of(matrices), columns = columns_of(matrices);
  const auto offset = static_cast<std::size_t>(i * rows * columns) * matrices.itemsize();
  return {matrices.dtype(), static_cast<char*>(matrices.data_ptr()) + offset, rows, columns};
}

// The i-th of rows of `count` elements that lie one after another.
inline void* nth_row(const TensorBase& rows, std::int64_t i, std::int64_t count) {
  return static_cast<char*>(rows.data_ptr()) + static_cast<std::size_t>(i * count) * rows.itemsize();
}

}  // namespace keyway::inline v1::cuda
