// Rules of products. Their contracts have matched the sizes.
#pragma once

#include <keyway/core/dtype/scalar.h>
#include <keyway/ops/rules/output_meta.h>

namespace keyway::inline v1::rules {

inline OutputMeta mm(const TensorBase& self, const TensorBase& mat2) {
  return meta_of({self.sizes()[0], mat2.sizes()[1]});
}

inline OutputMeta addmm(const TensorBase&, const TensorBase& mat1, const TensorBase& mat2, const Scalar&,
                        const Scalar&) {
  return mm(mat1, mat2);
}

inline OutputMeta bmm(const TensorBase& self, const TensorBase& mat2) {
  return meta_of({self.sizes()[0], self.sizes()[1], mat2.sizes()[2]});
}

inline OutputMeta baddbmm(const TensorBase&, const TensorBase& batch1, const TensorBase& batch2, const Scalar&,
                          const Scalar&) {
  return bmm(batch1, batch2);
}

}  // namespace keyway::inline v1::rules
