// Selection: what an index picks from a tensor: a view, and of that the elements that index tensors name.
#pragma once

#include <keyway/core/base/array_ref.h>
#include <keyway/ops/indexing/tensor_index.h>

#include <optional>
#include <vector>

namespace keyway::inline v1::indexing {

struct Selection {
  Tensor view;
  std::vector<std::optional<Tensor>> indices;  // by dimension of the view; empty: all of it
};

// PyTorch's rules: integers, slices, None and ... make the view, from left to right; bools, masks and tensors of
// integers with dimensions are indices, an integer tensor without dimensions is an integer.
// Errors: Index: too many indices, out of range, tensors of other dtypes.
Selection select_items(const Tensor& self, ArrayRef<TensorIndex> items);

}  // namespace keyway::inline v1::indexing
