// Rules of softmax and its gradients: results are row-major.
#pragma once

#include <keyway/ops/rules/output_meta.h>

namespace keyway::inline v1::rules {

inline OutputMeta _softmax(const TensorBase& self, std::int64_t, bool) { return meta_of(self.sizes()); }
inline OutputMeta _log_softmax(const TensorBase& self, std::int64_t, bool) { return meta_of(self.sizes()); }
inline OutputMeta _softmax_backward_data(const TensorBase&, const TensorBase& output, std::int64_t, ScalarType) {
  return meta_of(output.sizes());
}
inline OutputMeta _log_softmax_backward_data(const TensorBase&, const TensorBase& output, std::int64_t, ScalarType) {
  return meta_of(output.sizes());
}

}  // namespace keyway::inline v1::rules
