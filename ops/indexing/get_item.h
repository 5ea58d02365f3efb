// get_item and set_item: what Python writes as x[...] and x[...] = y.
#pragma once

#include <keyway/core/base/array_ref.h>
#include <keyway/core/base/macros.h>
#include <keyway/ops/indexing/tensor_index.h>

namespace keyway::inline v1::indexing {

// What `indices` pick from `self`: a view if there is no tensor or bool among them, and a copy otherwise.
// Errors (Index): too many indices; out of range; an undefined tensor, or one that is not int64, int32, bool or uint8.
KEYWAY_API Tensor get_item(const Tensor& self, ArrayRef<TensorIndex> indices);

// Writes into what `indices` pick. A number fills it. A tensor is broadcast to it, whose leading dimensions of size 1
// do not count, and is converted to the dtype of `self` where there is no index tensor, or nothing but masks and one
// element. Errors: those of get_item(); Value for shapes that do not fit.
KEYWAY_API void set_item(const Tensor& self, ArrayRef<TensorIndex> indices, const Scalar& value);
KEYWAY_API void set_item(const Tensor& self, ArrayRef<TensorIndex> indices, const Tensor& value);

}  // namespace keyway::inline v1::indexing
