// Levels as dimensions: a tensor with all its examples in sight, as backward needs it for gradients within vmap.
#pragma once

#include <keyway/batching/vmap_level.h>
#include <keyway/tensor.h>

namespace keyway::inline v1::batching {

// The tensor with a dimension for `level` and each level around it in front, the outermost first; levels within it stay
// what they are. Repeated, as a view, where it is the same for all examples. With a null level, the tensor itself.
KEYWAY_API Tensor with_level_dims(const Tensor& tensor, const VmapLevel* level);
// The inverse: the tensor of an example, of one with these dimensions.
KEYWAY_API Tensor without_level_dims(const Tensor& tensor, const VmapLevel* level);

}  // namespace keyway::inline v1::batching
