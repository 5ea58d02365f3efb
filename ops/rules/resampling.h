// Rules of what images are resampled by: results are row-major.
#pragma once

#include <keyway/ops/rules/output_meta.h>

namespace keyway::inline v1::rules {

inline OutputMeta _gather_weighed(const TensorBase& self, const TensorBase& places, const TensorBase&) {
  const IntArrayRef sizes = self.sizes();
  return meta_of({sizes[0], sizes[1], places.sizes()[3], sizes[3]});
}

inline OutputMeta _scatter_weighed(const TensorBase& self, const TensorBase&, const TensorBase&, std::int64_t size) {
  const IntArrayRef sizes = self.sizes();
  return meta_of({sizes[0], sizes[1], size, sizes[3]});
}

inline OutputMeta _gather_products(const TensorBase&, const TensorBase&, const TensorBase& places) {
  return meta_of(places.sizes());
}

}  // namespace keyway::inline v1::rules
