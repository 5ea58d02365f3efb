#include <keyway/core/default_dtype.h>
#include <keyway/ops/all.h>
#include <keyway/ops/indexing_composites.h>
#include <keyway/ops/rules/broadcast.h>

namespace keyway::inline v1::composite {

namespace {

// bool, integral, floating, complex.
int kind_of(ScalarType dtype) {
  return is_complex(dtype) ? 3 : is_floating_point(dtype) ? 2 : is_integral(dtype, false) ? 1 : 0;
}

// A number as a tensor that takes part in promotion as numbers do: by its kind, not its width.
Tensor number_beside(const Scalar& number, const Tensor& tensor) {
  const auto own = number.is_complex()          ? get_default_complex_dtype()
                   : number.is_floating_point() ? get_default_dtype()
                                                : number.type();
  const ScalarType dtype = kind_of(number.type()) <= kind_of(tensor.dtype()) ? tensor.dtype() : own;
  return keyway::scalar_tensor(number, TensorOptions().dtype(number.type()).device(tensor.device())).to(dtype);
}

}  // namespace

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
