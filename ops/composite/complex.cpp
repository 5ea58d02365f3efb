#include <keyway/ops/all.h>
#include <keyway/ops/complex_composites.h>

namespace keyway::inline v1::composite {

Tensor conj_physical(const Tensor& self) {
  if (!self.is_complex()) return self;
  return keyway::view_as_complex(keyway::stack({keyway::real(self), -keyway::imag(self)}, -1));
}

Tensor imag(const Tensor& self) { return keyway::view_as_real(self).select(-1, 1); }

Tensor polar(const Tensor& abs, const Tensor& angle) {
  return keyway::view_as_complex(keyway::stack({abs * angle.cos(), abs * angle.sin()}, -1));
}

Tensor real(const Tensor& self) { return self.is_complex() ? keyway::view_as_real(self).select(-1, 0) : self; }

}  // namespace keyway::inline v1::composite
