// Rules of what images are resampled by: results are row-major.
#pragma once

#include <keyway/ops/rules/output_meta.h>

namespace keyway::inline v1::rules {

inline OutputMeta _gather_weighted(const TensorBase& self, const TensorBase& indices, const TensorBase&) {
  const IntArrayRef sizes = self.sizes();
  return meta_of({sizes[0], sizes[1], indices.sizes()[3], sizes[3]});
}

inline OutputMeta _scatter_weighted(const TensorBase& self, const TensorBase&, const TensorBase&, std::int64_t size) {
  const IntArrayRef sizes = self.sizes();
  return meta_of({sizes[0], sizes[1], size, sizes[3]});
}

inline OutputMeta _gather_products(const TensorBase&, const TensorBase&, const TensorBase& indices) {
  return meta_of(indices.sizes());
}

}  // namespace keyway::inline v1::rules
