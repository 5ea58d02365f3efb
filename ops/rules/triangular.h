// Rules of triangles.
#pragma once

#include <keyway/ops/rules/output_meta.h>

namespace keyway::inline v1::rules {

inline OutputMeta tril(const TensorBase& self, std::int64_t) { return meta_of(self.sizes()); }
inline OutputMeta triu(const TensorBase& self, std::int64_t) { return meta_of(self.sizes()); }

}  // namespace keyway::inline v1::rules
