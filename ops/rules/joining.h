// Rules of joining.
#pragma once

#include <keyway/ops/rules/output_meta.h>

namespace keyway::inline v1::rules {

// Requires: concatenable(tensors, dim).
KEYWAY_API OutputMeta cat(ArrayRef<TensorBase> tensors, std::int64_t dim);
inline OutputMeta flip(const TensorBase& self, IntArrayRef) { return meta_like(self); }

}  // namespace keyway::inline v1::rules
