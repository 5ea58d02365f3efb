#include <keyway/core/default_dtype.h>
#include <keyway/ops/all.h>
#include <keyway/ops/composite/numbers.h>

namespace keyway::inline v1::composite {

namespace {

// bool, integral, floating, complex.
int kind_of(ScalarType dtype) {
  return is_complex(dtype) ? 3 : is_floating_point(dtype) ? 2 : is_integral(dtype, false) ? 1 : 0;
}

}  // namespace

Tensor number_beside(const Scalar& number, const Tensor& tensor) {
  const auto own = number.is_complex()          ? get_default_complex_dtype()
                   : number.is_floating_point() ? get_default_dtype()
                                                : number.type();
  const ScalarType dtype = kind_of(number.type()) <= kind_of(tensor.dtype()) ? tensor.dtype() : own;
  return keyway::scalar_tensor(number, TensorOptions().dtype(number.type()).device(tensor.device())).to(dtype);
}

}  // namespace keyway::inline v1::composite
