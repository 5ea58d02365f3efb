// Sizes of what is broadcast.
#pragma once

#include <keyway/ops/rules/broadcast.h>

#include <ATen/core/Tensor.h>
#include <vector>

namespace at {

// Errors (Value): sizes that do not broadcast.
inline std::vector<std::int64_t> infer_size(IntArrayRef a, IntArrayRef b) {
  const DimVector sizes = keyway::broadcast_sizes(a, b);
  return {sizes.begin(), sizes.end()};
}

}  // namespace at
