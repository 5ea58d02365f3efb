// The rule of equations with triangles.
#pragma once

#include <keyway/ops/rules/broadcast.h>
#include <keyway/ops/rules/column_major.h>

namespace keyway::inline v1::rules {

inline OutputMeta linalg_solve_triangular(const TensorBase& self, const TensorBase& B, bool, bool, bool) {
  const DimVector batch = broadcast_sizes(batch_sizes(self), batch_sizes(B));
  return meta_column_major(sizes_with(batch, {rows_of(B), columns_of(B)}));
}

}  // namespace keyway::inline v1::rules
