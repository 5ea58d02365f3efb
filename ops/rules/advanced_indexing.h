// Rules of indexing with several index tensors.
#pragma once

#include <keyway/ops/rules/output_meta.h>

namespace keyway::inline v1::rules {

// The result of self[indices]: the shape that the indices broadcast to stands where the indexed dimensions
// stood if they are neighbours, else in front; the others follow in their order.
struct IndexedShape {
  DimVector rows;             // the common shape of the indices
  DimVector block;            // the dimensions of self without an index
  DimVector block_sizes;      // and their sizes
  std::size_t first_row_dim;  // where `rows` stands in the result

  KEYWAY_API DimVector sizes() const;
};
// Absent indices are undefined tensors. Requires: not more than dimensions; those defined broadcast.
KEYWAY_API IndexedShape indexed_shape(const TensorBase& self, ArrayRef<TensorBase> indices);

KEYWAY_API OutputMeta _index(const TensorBase& self, ArrayRef<TensorBase> indices);
KEYWAY_API OutputMeta _index_put(const TensorBase& self, ArrayRef<TensorBase> indices, const TensorBase& values,
                                 bool accumulate);

}  // namespace keyway::inline v1::rules
