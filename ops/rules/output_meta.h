// OutputMeta: what a rule says about one result: everything but its data.
#pragma once

#include <keyway/core/base/small_vector.h>
#include <keyway/core/tensor_base.h>

namespace keyway::inline v1 {

struct OutputMeta {
  DimVector sizes;
  DimVector strides;    // empty: contiguous
  bool defined = true;  // false where an output_mask leaves the result out
};

// A rule's usual answers.
inline OutputMeta meta_of(IntArrayRef sizes) { return {DimVector(sizes), {}, true}; }
inline OutputMeta meta_undefined() { return {{}, {}, false}; }
// Sizes of `self`, and its order of dimensions in memory where that is dense.
KEYWAY_API OutputMeta meta_like(const TensorBase& self);
// `sizes` in the memory format that `self` suggests.
KEYWAY_API OutputMeta meta_of(IntArrayRef sizes, MemoryFormat format);

}  // namespace keyway::inline v1
