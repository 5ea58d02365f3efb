// Frequencies, covariances, differences, and integrals of samples.
#include <keyway/ops/all.h>
#include <keyway/ops/composite/opmath.h>
#include <keyway/ops/rules/promotion.h>
#include <keyway/ops/statistics_composites.h>

#include <algorithm>

namespace keyway::inline v1::composite {

namespace {

// All but the first, and all but the last, along a dimension.
Tensor later_ones(const Tensor& y, std::int64_t dim) { return y.slice(dim, 1); }
Tensor earlier_ones(const Tensor& y, std::int64_t dim) { return y.slice(dim, 0, -1); }

// Twice the mean of each two neighbours.
Tensor sums_of_neighbours(const Tensor& y, std::int64_t dim) { return earlier_ones(y, dim) + later_ones(y, dim); }

// The same times how far they are apart. `x` are the coordinates along `dim` of `y`, or of the same rank, counted from
// the end. `dim` is negative.
Tensor areas(const Tensor& y, const Tensor& x, std::int64_t dim) {
  if (x.dim() == 1 && y.dim() > 0) {
    DimVector along(static_cast<std::size_t>(-dim), 1);
    along[0] = x.size(0) - (x.size(0) > 0 ? 1 : 0);
    return sums_of_neighbours(y, dim) * (later_ones(x, 0) - earlier_ones(x, 0)).reshape(along);
  }
  DimVector sizes(x.sizes());
  while (static_cast<std::int64_t>(sizes.size()) < -dim) sizes.insert(0, 1);
  const Tensor coordinates = x.reshape(sizes);
  return sums_of_neighbours(y, dim) * (later_ones(coordinates, dim) - earlier_ones(coordinates, dim));
}

// A dimension counted from the end.
std::int64_t from_end(std::int64_t dim, const Tensor& y) { return wrap_dim(dim, y.dim()) - y.dim(); }

// Throws if a number is negative, where that can be known without waiting for a device.
void check_not_negative(const Tensor& weights, std::string_view otherwise) {
  if (!weights.is_cpu() || weights.numel() == 0) return;
  keyway::_assert_async(weights.lt(0).any().logical_not(), otherwise);
}

// How often each column counts; undefined if each counts once.
Tensor column_weights(const std::optional<Tensor>& frequencies, const std::optional<Tensor>& importances) {
  if (frequencies) check_not_negative(*frequencies, "fweights must not be negative");
  if (importances) check_not_negative(*importances, "aweights must not be negative");
  if (frequencies && importances) return frequencies->reshape({-1}) * importances->reshape({-1});
  if (frequencies) return frequencies->reshape({-1});
  return importances ? importances->reshape({-1}) : Tensor();
}

}  // namespace

Tensor bincount(const Tensor& self, const std::optional<Tensor>& weights, std::int64_t minlength) {
  const TensorOptions counts = TensorOptions(self.device()).dtype(kLong);
  if (self.numel() == 0) return keyway::zeros({minlength}, counts);
  const auto least = self.amin().item().to<std::int64_t>(), greatest = self.amax().item().to<std::int64_t>();
  KEYWAY_CHECK(least >= 0, "self has {}, but must not have negative numbers", least);
  KEYWAY_CHECK(greatest < INT64_MAX, "self has {}, which is too large a number to count to", greatest);
  const std::int64_t size = std::max(greatest + 1, minlength);
  const Tensor bins = self.to(kLong);
  if (!weights) return keyway::zeros({size}, counts).index_add(0, bins, keyway::ones_like(bins));
  const ScalarType dtype = weights->dtype() == kFloat ? kFloat : kDouble;
  return keyway::zeros({size}, TensorOptions(counts).dtype(dtype)).index_add(0, bins, weights->to(dtype));
}

// A little more than 1 is 1, with the gradient that it has.
Tensor corrcoef(const Tensor& self) {
  const Tensor covariances = to_opmath(self).cov();
  if (covariances.dim() == 0) return narrowed(covariances / covariances, self.dtype());
  const Tensor variances = covariances.diagonal();
  const Tensor deviations = (self.is_complex() ? keyway::real(variances) : variances).sqrt();
  const Tensor result = covariances / deviations.unsqueeze(1) / deviations.unsqueeze(0);
  const Tensor parts = self.is_complex() ? keyway::view_as_real(result) : result;
  const Tensor held = parts + (parts.clamp(-1, 1) - parts).detach();
  return narrowed(self.is_complex() ? keyway::view_as_complex(held) : held, self.dtype());
}

Tensor cov(const Tensor& self, std::int64_t correction, const std::optional<Tensor>& fweights,
           const std::optional<Tensor>& aweights) {
  const ScalarType dtype = to_float(self.dtype());
  const Tensor rows = (self.dim() < 2 ? self.reshape({1, self.numel()}) : self).to(opmath_dtype(dtype));
  const Tensor weights = column_weights(fweights, aweights);
  const std::int64_t by_row = 1;
  if (!weights.defined()) {
    const double count = static_cast<double>(rows.size(1)), divisor = count - static_cast<double>(correction);
    const Tensor apart = rows - rows.sum(by_row, /*keepdim=*/true) / count;
    return narrowed((keyway::mm(apart, apart.t().conj_physical()) / std::max(divisor, 0.0)).squeeze(), dtype);
  }
  const Tensor total = weights.sum();
  const Tensor apart = rows - (rows * weights).sum(by_row, /*keepdim=*/true) / total;
  const Tensor lost =
      aweights ? (weights * aweights->reshape({-1})).sum() / total * correction : keyway::full_like(total, correction);
  const Tensor products = keyway::mm(apart, (apart * weights).t().conj_physical());
  return narrowed((products / (total - lost).clamp(0)).squeeze(), promote_types(dtype, weights.dtype()));
}

Tensor cumulative_trapezoid_dx(const Tensor& y, const Scalar& dx, std::int64_t dim) {
  return narrowed(sums_of_neighbours(to_opmath(y), dim).cumsum(dim) * dx / 2, y.dtype());
}

Tensor cumulative_trapezoid_x(const Tensor& y, const Tensor& x, std::int64_t dim) {
  const std::int64_t at = from_end(dim, y);
  return narrowed(areas(to_opmath(y), to_opmath(x), at).cumsum(at) / 2, (Promotion() << y << x).result());
}

Tensor diff(const Tensor& self, std::int64_t n, std::int64_t dim, const std::optional<Tensor>& prepend,
            const std::optional<Tensor>& append) {
  if (n == 0) return self.clone();
  Tensor values = self;
  if (prepend) values = keyway::cat({*prepend, values}, dim);
  if (append) values = keyway::cat({values, *append}, dim);
  for (std::int64_t left = std::min(n, values.size(dim)); left > 0; --left) {
    const Tensor later = later_ones(values, dim), earlier = earlier_ones(values, dim);
    values = values.dtype() == ScalarType::Bool ? later.logical_xor(earlier) : later - earlier;
  }
  return values.is_alias_of(self) ? values.clone() : values;
}

// Parts of equal width, computed on the device; the last of them has its end too. In float64: the width of a range of
// float32 may be more than that holds.
Tensor histc(const Tensor& self, std::int64_t bins, const Scalar& min, const Scalar& max) {
  const Tensor counts = keyway::zeros({bins}, TensorOptions(self.device()).dtype(kLong));
  const Tensor elements = self.detach().reshape({self.numel()}).to(kDouble);
  const bool of_elements = min.to<double>() == max.to<double>() && self.numel() > 0;
  Tensor low = of_elements ? elements.amin() : keyway::full({}, min, elements.options());
  Tensor high = of_elements ? elements.amax() : keyway::full({}, max, elements.options());
  if (of_elements && !self.is_meta())
    keyway::_assert_async((high - low).isfinite(), "the elements are not finite, so there is no range");
  const Tensor wider = (low == high).to(elements.dtype());
  low = low - wider;
  high = high + wider;
  const Tensor inside = (elements >= low).logical_and(elements <= high);
  const Tensor part = ((elements - low) * static_cast<double>(bins) / (high - low)).masked_fill(~inside, 0);
  return counts.index_add(0, part.to(kLong).clamp(0, bins - 1), inside.to(kLong)).to(self.dtype());
}

Tensor trapezoid_dx(const Tensor& y, const Scalar& dx, std::int64_t dim) {
  return narrowed(sums_of_neighbours(to_opmath(y), dim).sum(dim) * dx / 2, y.dtype());
}

Tensor trapezoid_x(const Tensor& y, const Tensor& x, std::int64_t dim) {
  const std::int64_t at = from_end(dim, y);
  return narrowed(areas(to_opmath(y), to_opmath(x), at).sum(at) / 2, (Promotion() << y << x).result());
}

Tensor trapz_dx(const Tensor& y, double dx, std::int64_t dim) { return trapezoid_dx(y, dx, dim); }

Tensor trapz_x(const Tensor& y, const Tensor& x, std::int64_t dim) { return trapezoid_x(y, x, dim); }

}  // namespace keyway::inline v1::composite
