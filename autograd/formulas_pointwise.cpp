#include <keyway/autograd/formulas.h>

#include <keyway/core/base/error.h>
#include <keyway/ops/all.h>

namespace keyway::inline v1::autograd {

Tensor conj(const Tensor& self) {
  KEYWAY_CHECK_AS(NotImplemented, !self.is_complex(), "gradients of complex tensors that need a conjugate");
  return self;
}

}  // namespace keyway::inline v1::autograd
