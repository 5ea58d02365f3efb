#include <keyway/ops/all.h>
#include <keyway/ops/composite/numbers.h>
#include <keyway/ops/pointwise_composites.h>

namespace keyway::inline v1::composite {

Tensor rsub_number(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  return number_beside(other, self).sub(self, alpha);
}

Tensor rsub(const Tensor& self, const Tensor& other, const Scalar& alpha) { return other.sub(self, alpha); }

}  // namespace keyway::inline v1::composite
