#include <keyway/ops/all.h>
#include <keyway/ops/composite/numbers.h>
#include <keyway/ops/indexing_composites.h>
#include <keyway/ops/rules/broadcast.h>

namespace keyway::inline v1::composite {

Tensor masked_fill(const Tensor& self, const Tensor& mask, const Tensor& value) {
  return keyway::where(mask, value.to(self.dtype()), self);
}

Tensor masked_select(const Tensor& self, const Tensor& mask) {
  const DimVector sizes = broadcast_sizes(self.sizes(), mask.sizes());
  if (sizes.empty()) return self.reshape({1}).index({mask.reshape({1})});
  return self.expand(sizes).index({mask.expand(sizes)});
}

Tensor where_scalars(const Tensor& condition, const Scalar& self, const Scalar& other) {
  return keyway::where(condition, number_beside(self, condition), number_beside(other, condition));
}

Tensor where_scalar_other(const Tensor& condition, const Tensor& self, const Scalar& other) {
  return keyway::where(condition, self, number_beside(other, self));
}

Tensor where_scalar_self(const Tensor& condition, const Scalar& self, const Tensor& other) {
  return keyway::where(condition, number_beside(self, other), other);
}

}  // namespace keyway::inline v1::composite
