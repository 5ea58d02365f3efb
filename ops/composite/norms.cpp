// Norms of vectors, and distances.
#include <keyway/ops/all.h>
#include <keyway/ops/composite/opmath.h>
#include <keyway/ops/linalg_composites.h>
#include <keyway/ops/rules/promotion.h>

#include <cmath>

namespace keyway::inline v1::composite {

namespace {

// With a gradient of 0 where an element is 0, also where the power has an infinite one.
Tensor power(const Tensor& size, double p) {
  if (p > 1) return size.pow(p);
  const Tensor is_zero = size == 0;
  return size.masked_fill(is_zero, 1).pow(p).masked_fill(is_zero, p > 0 ? 0 : INFINITY);
}

// The p-th root of the sum of p-th powers. Its gradient where all are 0 is 0: there the root is taken of a constant.
Tensor power_norm(const Tensor& size, double p, OptionalIntArrayRef dim, bool keepdim) {
  const Tensor total = power(size, p).sum(dim, keepdim);
  const Tensor is_zero = total == 0;
  return total.masked_fill(is_zero, 1).pow(1 / p).masked_fill(is_zero, p > 0 ? 0 : INFINITY);
}

// What no elements have: the least of them, or a negative power.
void check_some(const Tensor& size, double p, const Tensor& result) {
  KEYWAY_CHECK(p >= 0 || size.numel() > 0 || result.numel() == 0, "there is no {}-norm of no elements", p);
}

Tensor norm_of_sizes(const Tensor& size, double p, OptionalIntArrayRef dim, bool keepdim) {
  const IntArrayRef dims = dim.has_value() ? *dim : IntArrayRef();
  if (p == INFINITY) return size.amax(dims, keepdim);
  if (p == -INFINITY) return size.amin(dims, keepdim);
  if (p == 0) return size.sign().masked_fill(size.isnan(), 1).sum(dim, keepdim);
  if (p == 1) return size.sum(dim, keepdim);
  return power_norm(size, p, dim, keepdim);
}

// Over the last dimension, 0 where that is empty.
Tensor norm_of_rows(const Tensor& rows, double p) {
  return keyway::linalg_vector_norm(rows, rows.size(-1) == 0 ? 1 : p, IntArrayRef{-1});
}

}  // namespace

Tensor cdist(const Tensor& x1, const Tensor& x2, double p, std::optional<std::int64_t> compute_mode) {
  return keyway::_cdist_forward(x1, x2, p, compute_mode);
}

namespace {

// |a - b|^2 = |a|^2 - 2 a b + |b|^2, of all pairs by one product. The gradient of a distance of 0 is 0.
Tensor euclidean_distances(const Tensor& x1, const Tensor& x2) {
  const auto squares = [](const Tensor& x) { return (x * x).sum(-1, true); };
  const Tensor products = keyway::matmul(x1, x2.transpose(-2, -1));
  const Tensor sums = squares(x1) + squares(x2).transpose(-2, -1);
  const Tensor total = keyway::sub(sums, products, 2).clamp_min(0), is_zero = total == 0;
  return total.masked_fill(is_zero, 1).sqrt().masked_fill(is_zero, 0);
}

// As PyTorch decides it: 1 is always by a product, 2 never, else for many rows; it loses digits of what is close
// together.
bool wants_product(const Tensor& x1, const Tensor& x2, std::optional<std::int64_t> compute_mode) {
  constexpr std::int64_t kManyRows = 25;
  const std::int64_t mode = compute_mode.value_or(0);
  return mode == 1 || (mode == 0 && (x1.size(-2) > kManyRows || x2.size(-2) > kManyRows));
}

}  // namespace

Tensor cdist_forward(const Tensor& x1, const Tensor& x2, double p, std::optional<std::int64_t> compute_mode) {
  if (p == 2 && x1.is_floating_point() && wants_product(x1, x2, compute_mode))
    return narrowed(euclidean_distances(to_opmath(x1), to_opmath(x2)), (Promotion() << x1 << x2).result());
  return norm_of_rows(x1.unsqueeze(-2) - x2.unsqueeze(-3), p);
}

Tensor dist(const Tensor& self, const Tensor& other, const Scalar& p) {
  return keyway::linalg_vector_norm(self - other, p);
}

Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, double p, double eps, bool keepdim) {
  return keyway::linalg_vector_norm(x1 - x2 + eps, p, IntArrayRef{-1}, keepdim);
}

Tensor pdist(const Tensor& self, double p) { return keyway::_pdist_forward(self, p); }

// Row i is the first of n - 1 - i pairs; those before it are the i (2n - i - 1) / 2 ones of other rows.
Tensor pdist_forward(const Tensor& self, double p) {
  const std::int64_t n = self.size(0), pairs = n == 0 ? 0 : checked_numel({n, n - 1}) / 2;
  const Tensor rows = keyway::arange(n, TensorOptions(self.device()).dtype(kLong));
  const Tensor first = keyway::repeat_interleave((n - 1) - rows, std::optional<std::int64_t>(pairs));
  const Tensor before = (first * ((2 * n - 1) - first)).div(2, "floor");
  const Tensor second = keyway::arange(pairs, rows.options()) - before + first + 1;
  return norm_of_rows(self.index_select(0, first) - self.index_select(0, second), p);
}

Tensor linalg_vector_norm(const Tensor& self, const Scalar& ord, OptionalIntArrayRef dim, bool keepdim,
                          std::optional<ScalarType> dtype) {
  KEYWAY_CHECK_AS(Dtype, !dtype || is_floating_point(*dtype) || is_complex(*dtype),
                  "dtype must be a floating one, not {}", *dtype);
  const Tensor given = dtype ? self.to(*dtype) : self;
  if (ord == Scalar(2)) return keyway::_euclidean_norm(given, dim, keepdim);
  const Tensor size = given.abs();
  const Tensor result = norm_of_sizes(to_opmath(size), ord.to<double>(), dim, keepdim);
  check_some(size, ord.to<double>(), result);
  return narrowed(result, size.dtype());
}

// Of a slice that is too long all is scaled; a little less, so that rounding does not leave it too long.
Tensor renorm(const Tensor& self, const Scalar& p, std::int64_t dim, const Scalar& maxnorm) {
  DimVector others;
  const std::int64_t kept = wrap_dim(dim, self.dim());
  for (std::int64_t d = 0; d < self.dim(); ++d)
    if (d != kept) others.push_back(d);
  const Tensor wide = to_opmath(self), norms = keyway::linalg_vector_norm(wide, p, others, /*keepdim=*/true);
  return narrowed(wide * keyway::where(norms > maxnorm, (norms + 1e-7).reciprocal() * maxnorm, 1), self.dtype());
}

}  // namespace keyway::inline v1::composite
