// Operands and results that lie column by column, as LAPACK and cuSOLVER take them.
#pragma once

#include <keyway/backends/common/operands.h>
#include <keyway/ops/rules/column_major.h>

namespace keyway::inline v1 {

inline TensorBase make_column_major(IntArrayRef sizes, ScalarType dtype, Device device) {
  return make_tensor_strided(sizes, column_major_strides(sizes), dtype, device);
}

namespace operands {

template <CopyElements copy>
TensorBase column_major_copy(const TensorBase& matrices) {
  return filled<copy>(make_column_major(matrices.sizes(), matrices.dtype(), matrices.device()), matrices);
}
// `triangles` as matrices that lie one after another, either way, one for each of the batch or one for all.
template <CopyElements copy>
TensorBase triangles_for(const TensorBase& triangles, IntArrayRef batch) {
  const DimVector sizes = sizes_beside(triangles, batch);
  if (lie_as(triangles, sizes)) return triangles;
  return filled<copy>(make_column_major(sizes, triangles.dtype(), triangles.device()), triangles);
}

template <CopyElements copy>
class ColumnMajorOut : public ResultBeside<copy> {
 public:
  explicit ColumnMajorOut(const TensorBase& out)
      : ResultBeside<copy>(out,
                           is_column_major(out) ? out : make_column_major(out.sizes(), out.dtype(), out.device())) {}
};

}  // namespace operands

}  // namespace keyway::inline v1
