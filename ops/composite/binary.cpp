#include <keyway/ops/all.h>
#include <keyway/ops/binary_composites.h>
#include <keyway/ops/composite/numbers.h>
#include <keyway/ops/rules/promotion.h>

namespace keyway::inline v1::composite {

// All three promote at once: in pairs, two of them could narrow what the third keeps wide.
Tensor clamp_tensor(const Tensor& self, const std::optional<Tensor>& min, const std::optional<Tensor>& max) {
  Promotion promotion;
  promotion << self;
  for (const std::optional<Tensor>& bound : {min, max})
    if (bound) promotion << *bound;
  const ScalarType dtype = promotion.result();
  Tensor result = self.to(dtype);
  if (min) result = keyway::maximum(result, min->to(dtype));
  if (max) result = keyway::minimum(result, max->to(dtype));
  return result;
}

Tensor div_mode(const Tensor& self, const Tensor& other, std::optional<std::string_view> rounding_mode) {
  if (!rounding_mode) return self / other;
  return *rounding_mode == "floor" ? keyway::floor_divide(self, other) : keyway::_div_trunc(self, other);
}

Tensor div_scalar_mode(const Tensor& self, const Scalar& other, std::optional<std::string_view> rounding_mode) {
  if (!rounding_mode) return self / other;
  return keyway::div(self, number_beside(other, self), rounding_mode);
}

}  // namespace keyway::inline v1::composite
