#include <keyway/ops/all.h>
#include <keyway/ops/composite/opmath.h>
#include <keyway/ops/reduction_composites.h>
#include <keyway/ops/rules/broadcast.h>
#include <keyway/ops/rules/promotion.h>

#include <algorithm>
#include <functional>
#include <tuple>

namespace keyway::inline v1::composite {

namespace {
Scalar correction_of(bool unbiased) { return unbiased ? 1 : 0; }

// The lengths of vectors along `dim`, at least `eps`, which their gradient does not know of, as in PyTorch.
Tensor lengths(const Tensor& vectors, std::int64_t dim, double eps) {
  const Tensor norms = keyway::linalg_vector_norm(vectors, 2, IntArrayRef{dim}, true), values = norms.detach();
  return norms + (eps - values).clamp_min(0);
}

// Whether elements are not zero, reduced over one dimension after the other, the last one first: over all of them
// without a list.
template <typename F>
Tensor each_dim_of_flags(const Tensor& self, OptionalIntArrayRef dim, const F& reduce) {
  DimVector dims;
  if (dim.has_value()) {
    for (const std::int64_t d : *dim) dims.push_back(wrap_dim(d, self.dim()));
  } else {
    for (std::int64_t d = 0; d < self.dim(); ++d) dims.push_back(d);
  }
  std::sort(dims.begin(), dims.end(), std::greater<>());
  Tensor flags = self.ne(0).to(self.dtype() == kByte ? kByte : kBool);
  for (const std::int64_t d : dims) flags = reduce(flags, d);
  return flags;
}
}  // namespace

Tensor all_dims(const Tensor& self, OptionalIntArrayRef dim, bool keepdim) {
  return each_dim_of_flags(self, dim, [&](const Tensor& flags, std::int64_t d) { return flags.all(d, keepdim); });
}

Tensor any_dims(const Tensor& self, OptionalIntArrayRef dim, bool keepdim) {
  return each_dim_of_flags(self, dim, [&](const Tensor& flags, std::int64_t d) { return flags.any(d, keepdim); });
}

std::tuple<Tensor, Tensor> aminmax(const Tensor& self, std::optional<std::int64_t> dim, bool keepdim) {
  const DimVector dims = dim ? DimVector{*dim} : DimVector();
  return {self.amin(dims, keepdim), self.amax(dims, keepdim)};
}

Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, std::int64_t dim, double eps) {
  const ScalarType dtype = (Promotion() << x1 << x2).result();
  const DimVector sizes = broadcast_sizes(x1.sizes(), x2.sizes());
  const Tensor a = x1.to(dtype).expand(sizes), b = x2.to(dtype).expand(sizes);
  return (a / lengths(a, dim, eps) * (b / lengths(b, dim, eps))).sum(dim);
}

// The greatest element, or real part, is taken out of the exponents. It is a constant there, which the sum does not
// depend on; where it is infinite, so is the sum as it stands.
Tensor logsumexp(const Tensor& self, IntArrayRef dim, bool keepdim) {
  const ScalarType dtype = to_float(self.dtype());
  const Tensor wide = self.to(opmath_dtype(dtype));
  if (wide.numel() == 0) return narrowed(wide.exp().sum(dim, keepdim).log(), dtype);
  const Tensor greatest = keyway::real(wide.detach()).amax(dim, true);
  const Tensor shift = greatest.masked_fill(greatest.isinf(), 0);
  return narrowed((wide - shift).exp().sum(dim, keepdim).log() + shift.amax(dim, keepdim), dtype);
}

Tensor nanmean(const Tensor& self, OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) {
  const ScalarType wanted = dtype.value_or(self.dtype());
  const Tensor total = self.masked_fill(self.isnan(), 0).sum(dim, keepdim, opmath_dtype(wanted));
  return narrowed(total / self.isnan().logical_not().sum(dim, keepdim), wanted);
}

Tensor nansum(const Tensor& self, OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) {
  return self.is_floating_point() ? self.masked_fill(self.isnan(), 0).sum(dim, keepdim, dtype)
                                  : self.sum(dim, keepdim, dtype);
}

Tensor std(const Tensor& self, bool unbiased) { return self.std(std::nullopt, correction_of(unbiased), false); }

Tensor std_dim(const Tensor& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim) {
  return self.std(dim, correction_of(unbiased), keepdim);
}

std::tuple<Tensor, Tensor> std_mean(const Tensor& self, bool unbiased) {
  return keyway::std_mean(self, std::nullopt, correction_of(unbiased), false);
}

std::tuple<Tensor, Tensor> std_mean_correction(const Tensor& self, OptionalIntArrayRef dim,
                                               std::optional<Scalar> correction, bool keepdim) {
  return {self.std(dim, correction, keepdim), self.mean(dim, keepdim)};  // the variance may be beyond the dtype's range
}

std::tuple<Tensor, Tensor> std_mean_dim(const Tensor& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim) {
  return keyway::std_mean(self, dim, correction_of(unbiased), keepdim);
}

Tensor var(const Tensor& self, bool unbiased) { return self.var(std::nullopt, correction_of(unbiased), false); }

Tensor var_dim(const Tensor& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim) {
  return self.var(dim, correction_of(unbiased), keepdim);
}

std::tuple<Tensor, Tensor> var_mean(const Tensor& self, bool unbiased) {
  return keyway::var_mean(self, std::nullopt, correction_of(unbiased), false);
}

std::tuple<Tensor, Tensor> var_mean_dim(const Tensor& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim) {
  return keyway::var_mean(self, dim, correction_of(unbiased), keepdim);
}

}  // namespace keyway::inline v1::composite
