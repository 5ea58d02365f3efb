// OutputMeta: what a rule says about one result: everything but its data.
#pragma once

#include <keyway/core/base/small_vector.h>
#include <keyway/core/tensor/tensor_base.h>

#include <optional>

namespace keyway::inline v1 {

struct OutputMeta {
  DimVector sizes;
  DimVector strides;    // empty: contiguous
  bool defined = true;  // false where an output_mask leaves the result out
  bool pinned = false;  // in pinned memory of the CPU; then strides are not empty
};

// A rule's usual answers.
inline OutputMeta meta_of(IntArrayRef sizes) { return {DimVector(sizes), {}, true}; }
inline OutputMeta meta_undefined() { return {{}, {}, false}; }
// Sizes of `self`, and its order of dimensions in memory where that is dense.
KEYWAY_API OutputMeta meta_like(const TensorBase& self);
// What a factory makes, whose caller may want it in pinned memory.
KEYWAY_API OutputMeta meta_of_new(IntArrayRef sizes, std::optional<bool> pin_memory);
// `sizes` in the memory format that `self` suggests.
KEYWAY_API OutputMeta meta_of(IntArrayRef sizes, MemoryFormat format);

}  // namespace keyway::inline v1
