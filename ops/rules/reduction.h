// The rule of reductions.
#pragma once

#include <keyway/ops/rules/output_meta.h>

#include <cstdint>
#include <optional>

namespace keyway::inline v1 {

// Sizes without the reduced dimensions, or with 1 in their place. No `dim`, or an empty one, is all.
// Requires: are_dims(dim).
KEYWAY_API OutputMeta reduced_meta(const TensorBase& self, std::optional<IntArrayRef> dim = std::nullopt,
                                   bool keepdim = false);
inline OutputMeta reduced_meta(const TensorBase& self, std::int64_t dim, bool keepdim = false) {
  return reduced_meta(self, IntArrayRef(&dim, 1), keepdim);
}

}  // namespace keyway::inline v1
