// Dimensions that count from the end.
#pragma once

#include <keyway/core/tensor/geometry.h>

#include <ATen/core/Tensor.h>

namespace at {

// Errors (Index): out of range.
inline std::int64_t maybe_wrap_dim(std::int64_t dim, std::int64_t dim_post_expr) {
  return keyway::wrap_dim(dim, dim_post_expr);
}

}  // namespace at
