#include <keyway/autograd/formulas/formula_words.h>
#include <keyway/autograd/helpers_reduction.h>
#include <keyway/autograd/helpers_unary.h>
#include <keyway/core/base/error.h>
#include <keyway/ops/all.h>

#include <algorithm>
#include <limits>

namespace keyway::inline v1::autograd {

namespace {

bool means_all(OptionalIntArrayRef dim) { return !dim.has_value() || (*dim).empty(); }

// The reduced dimensions of a tensor of that rank, in ascending order.
DimVector reduced_dims(OptionalIntArrayRef dim, std::size_t rank) {
  DimVector dims;
  if (means_all(dim)) {
    for (std::size_t i = 0; i < rank; ++i) dims.push_back(static_cast<std::int64_t>(i));
    return dims;
  }
  for (const std::int64_t d : *dim) dims.push_back(wrap_dim(d, static_cast<std::int64_t>(rank)));
  std::sort(dims.begin(), dims.end());
  return dims;
}

// How many elements went into one of the result.
std::int64_t reduced_count(IntArrayRef sizes, OptionalIntArrayRef dim) {
  std::int64_t count = 1;
  if (sizes.empty()) return count;
  for (const std::int64_t d : reduced_dims(dim, sizes.size())) count *= sizes[static_cast<std::size_t>(d)];
  return count;
}

// A reduction's result or gradient with its reduced dimensions back, of size 1.
Tensor with_reduced_dims(const Tensor& reduced, std::size_t rank, OptionalIntArrayRef dim, bool keepdim) {
  if (keepdim || rank == 0 || reduced.dim() == static_cast<std::int64_t>(rank)) return reduced;
  Tensor out = reduced;
  for (const std::int64_t d : reduced_dims(dim, rank)) out = out.unsqueeze(d);
  return out;
}

// Of each element along `dim` the product of those before it, and of those after it.
Tensor product_before(const Tensor& self, std::int64_t dim) {
  const Tensor first = keyway::ones_like(self.narrow(dim, 0, 1));
  return keyway::cat({first, self.narrow(dim, 0, self.size(dim) - 1).cumprod(dim)}, dim);
}
Tensor product_after(const Tensor& self, std::int64_t dim) { return product_before(self.flip({dim}), dim).flip({dim}); }

}  // namespace

Tensor expand_reduced(const Tensor& grad, IntArrayRef sizes, OptionalIntArrayRef dim, bool keepdim) {
  return with_reduced_dims(grad, sizes.size(), dim, keepdim).expand(sizes);
}

Tensor mean_backward(const Tensor& grad, IntArrayRef sizes, OptionalIntArrayRef dim, bool keepdim) {
  return expand_reduced(grad / reduced_count(sizes, dim), sizes, dim, keepdim);
}

Tensor amax_backward(const Tensor& grad, const Tensor& self, const Tensor& result, OptionalIntArrayRef dim,
                     bool keepdim) {
  const auto rank = static_cast<std::size_t>(self.dim());
  const Tensor value = with_reduced_dims(result, rank, dim, keepdim);
  const Tensor extremum = (value == self).logical_or(value.isnan().logical_and(self.isnan()));
  const Tensor count = rank == 0 ? extremum : extremum.sum(reduced_dims(dim, rank), /*keepdim=*/true);
  // A narrow float may be unable to count them.
  const Tensor wide = grad.to(opmath_type(grad.dtype()));
  return (with_reduced_dims(wide, rank, dim, keepdim) / count).to(grad.dtype()) * extremum;
}

Tensor prod_backward(const Tensor& grad, const Tensor& self, OptionalIntArrayRef dim, bool keepdim) {
  if (self.dim() == 0) return grad;
  if (self.numel() == 0) return keyway::zeros_like(self);
  if (means_all(dim)) return prod_backward(grad, self.reshape({-1}), DimVector{0}, false).reshape(self.sizes());
  // Products on the way may leave the range of a narrow float, and are rounded at every step.
  const Tensor wide = self.to(opmath_type(grad.dtype()));
  const std::int64_t along = reduced_dims(dim, static_cast<std::size_t>(self.dim())).front();
  const Tensor others = product_before(wide, along) * product_after(wide, along);
  const Tensor factor = with_reduced_dims(grad, static_cast<std::size_t>(self.dim()), dim, keepdim);
  return (factor * conj(others)).to(grad.dtype());
}

Tensor euclidean_norm_backward(const Tensor& grad, const Tensor& self, const Tensor& result, OptionalIntArrayRef dim,
                               bool keepdim) {
  const auto rank = static_cast<std::size_t>(self.dim());
  // The quotient is at most 1: no product on the way leaves the range of a narrow float.
  const Tensor divisor = result.masked_fill(result == 0, std::numeric_limits<double>::infinity());
  return self / with_reduced_dims(divisor, rank, dim, keepdim) * with_reduced_dims(grad, rank, dim, keepdim);
}

Tensor var_backward(const Tensor& grad, const Tensor& self, OptionalIntArrayRef dim, std::optional<Scalar> correction,
                    bool keepdim) {
  const auto rank = static_cast<std::size_t>(self.dim());
  const double count = static_cast<double>(reduced_count(self.sizes(), dim));
  const double divisor = std::max(count - (correction ? correction->to<double>() : 1.0), 0.0);
  const Tensor mean = rank == 0 ? self : self.mean(reduced_dims(dim, rank), /*keepdim=*/true);
  return with_reduced_dims(grad, rank, dim, keepdim) * (2.0 / divisor) * (self - mean);
}

Tensor std_backward(const Tensor& grad, const Tensor& self, const Tensor& result, OptionalIntArrayRef dim,
                    std::optional<Scalar> correction, bool keepdim) {
  const Tensor twice = (result * 2).masked_fill(result == 0, std::numeric_limits<double>::infinity());
  return var_backward(grad / twice, self, dim, correction, keepdim);
}

Tensor var_mean_backward(const Tensor& grad_var, const Tensor& grad_mean, const Tensor& self, OptionalIntArrayRef dim,
                         std::optional<Scalar> correction, bool keepdim) {
  Tensor result;
  if (grad_mean.defined()) result = mean_backward(grad_mean, self.sizes(), dim, keepdim);
  if (!grad_var.defined()) return result;
  const Tensor of_variance = var_backward(grad_var, self, dim, correction, keepdim);
  return result.defined() ? result + of_variance : of_variance;
}

Tensor std_mean_backward(const Tensor& grad_std, const Tensor& grad_mean, const Tensor& self, const Tensor& deviation,
                         OptionalIntArrayRef dim, std::optional<Scalar> correction, bool keepdim) {
  if (!grad_std.defined()) return var_mean_backward(grad_std, grad_mean, self, dim, correction, keepdim);
  const Tensor of_deviation = std_backward(grad_std, self, deviation, dim, correction, keepdim);
  if (!grad_mean.defined()) return of_deviation;
  return mean_backward(grad_mean, self.sizes(), dim, keepdim) + of_deviation;
}

}  // namespace keyway::inline v1::autograd
