#include <keyway/core/dtype/default_dtype.h>
#include <keyway/ops/all.h>
#include <keyway/ops/comparison_composites.h>
#include <keyway/ops/rules/contracts.h>

#include <limits>

namespace keyway::inline v1::composite {

void assert_true(const Tensor& self) { assert_true_or(self, "the value is zero or False"); }

void assert_true_or(const Tensor& self, std::string_view assert_msg) {
  if (!self.is_meta()) KEYWAY_CHECK(self.item().to<bool>(), "{}", assert_msg);
}

bool allclose(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  return keyway::isclose(self, other, rtol, atol, equal_nan).all().item().to<bool>();
}

bool equal(const Tensor& self, const Tensor& other) {
  (void)same_device({{"self", self}, {"other", other}});
  if (self.sizes() != other.sizes()) return false;
  return (self == other).all().item().to<bool>();
}

Tensor isclose(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  Tensor close = self == other;
  const bool fractions = self.is_floating_point() || self.is_complex();
  if (equal_nan && fractions) close = close.logical_or(self.isnan().logical_and(other.isnan()));
  if (rtol == 0 && atol == 0) return close;
  const Tensor wanted = fractions ? other : other.to(get_default_dtype());
  const Tensor difference = ((fractions ? self : self.to(get_default_dtype())) - wanted).abs();
  const Tensor is_near = difference <= (wanted * rtol).abs() + atol;
  return close.logical_or(is_near.logical_and(difference < std::numeric_limits<double>::infinity()));
}

}  // namespace keyway::inline v1::composite
