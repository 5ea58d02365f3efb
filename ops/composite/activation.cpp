#include <keyway/ops/activation_composites.h>
#include <keyway/ops/all.h>

namespace keyway::inline v1::composite {

namespace {
// The constants with which a network of selu keeps mean 0 and variance 1.
constexpr double kSeluAlpha = 1.6732632423543772848170429916717;
constexpr double kSeluScale = 1.0507009873554804934193349852946;
}  // namespace

Tensor celu(const Tensor& self, const Scalar& alpha) { return keyway::elu(self, alpha, 1, 1 / alpha.to<double>()); }

Tensor glu(const Tensor& self, std::int64_t dim) {
  const std::int64_t half = self.size(dim) / 2;
  return self.slice(dim, 0, half) * self.slice(dim, half).sigmoid();
}

// NaN is not within the bound, so that it stays.
Tensor hardshrink(const Tensor& self, const Scalar& lambd) { return self.masked_fill(self.abs() <= lambd, 0); }

// `self` is held below 0 before the product, so that infinities do not get into the gradient of `weight`.
Tensor prelu(const Tensor& self, const Tensor& weight) {
  DimVector sizes(static_cast<std::size_t>(self.dim()), 1);
  if (weight.numel() != 1) sizes[1] = weight.numel();
  return keyway::where(self > 0, self, self.clamp_max(0) * weight.reshape(sizes));
}

Tensor selu(const Tensor& self) { return keyway::elu(self, kSeluAlpha, kSeluScale, 1); }

Tensor softshrink(const Tensor& self, const Scalar& lambd) {
  const auto bound = lambd.to<double>();
  return (self - self.clamp(-bound, bound)).masked_fill(self.abs() <= bound, 0);  // nor a gradient at the bounds
}

Tensor threshold(const Tensor& self, const Scalar& threshold, const Scalar& value) {
  return self.masked_fill(self <= threshold, value);
}

}  // namespace keyway::inline v1::composite
