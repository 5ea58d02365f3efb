#include <keyway/autograd/formulas/formula_words.h>
#include <keyway/autograd/helpers_advanced_indexing.h>
#include <keyway/autograd/helpers_indexing.h>
#include <keyway/autograd/helpers_scatter.h>
#include <keyway/autograd/helpers_view.h>
#include <keyway/ops/all.h>

namespace keyway::inline v1::autograd {

namespace {

// With zeros at the ends of dimensions, so that it has `sizes`. No dimensions and one of size 1 are the same here.
Tensor padded(Tensor x, IntArrayRef sizes) {
  const DimVector wanted = sizes.empty() ? DimVector{1} : DimVector(sizes);
  if (x.dim() == 0) x = x.reshape({1});
  for (std::int64_t d = 0; d < x.dim(); ++d) {
    const std::int64_t size = x.size(d);
    if (size == wanted[static_cast<std::size_t>(d)]) continue;
    DimVector larger = x.sizes();
    larger[static_cast<std::size_t>(d)] = wanted[static_cast<std::size_t>(d)];
    x = slice_backward(x, larger, d, 0, size, 1);
  }
  return x.reshape(sizes);
}

// The elements of a tensor that may be larger, up to `sizes`.
Tensor first_of(Tensor x, IntArrayRef sizes) {
  if (x.dim() == 0 || sizes.empty()) return x.reshape({-1}).slice(0, 0, checked_numel(sizes)).reshape(sizes);
  for (std::int64_t d = 0; d < x.dim(); ++d) x = x.slice(d, 0, sizes[static_cast<std::size_t>(d)]);
  return x;
}

// In what steps on the way are computed in. Counts are integers: 16-bit floats end to count at 256 or 2048.
Tensor wide(const Tensor& x) { return x.to(opmath_type(x.dtype())); }

// Each factor's gradient is the product of the others. Zeros are counted and left out of the product: where there is
// one, only it has a gradient; where there are more, no factor has.
std::tuple<Tensor, Tensor> scatter_product_backward(const Tensor& grad, const Tensor& self, std::int64_t dim,
                                                    const Tensor& index, const Tensor& src, bool include_self) {
  const Tensor chosen = wide(first_of(src, index.sizes()));
  const Tensor factors = wide(include_self ? self : self.scatter(dim, index, 1));
  const Tensor self_is_zero = factors == 0, src_is_zero = chosen == 0;
  const Tensor self_zeros = self_is_zero.to(kLong), src_zeros = src_is_zero.to(kLong);
  const Tensor zeros = self_zeros.scatter_add(dim, index, src_zeros);
  KEYWAY_CHECK_AS(NotImplemented, !grad_enabled() || zeros.is_meta() || zeros.sum().item().to<std::int64_t>() == 0,
                  "the second derivative of scatter_reduce with prod is not there where factors are 0");
  const Tensor self_factors = factors.masked_fill(self_is_zero, 1), src_factors = chosen.masked_fill(src_is_zero, 1);
  const Tensor weighed = wide(grad) * self_factors.scatter_reduce(dim, index, src_factors, "prod");
  const Tensor for_self = (weighed / self_factors * (zeros == self_zeros)).to(grad.dtype());
  const Tensor part = weighed.gather(dim, index) / src_factors * (zeros.gather(dim, index) == src_zeros);
  const Tensor for_src = part.to(grad.dtype());
  return {include_self ? for_self : for_self.scatter(dim, index, 0), padded(for_src, src.sizes())};
}

}  // namespace

Tensor embedding_dense_double_backward(const Tensor& grad, const Tensor& indices, std::int64_t num_weights,
                                       std::int64_t padding_idx, bool scale_grad_by_freq) {
  Tensor rows = keyway::embedding(grad, indices);
  if (scale_grad_by_freq) {
    const Tensor flat = indices.reshape({-1});
    const TensorOptions counts = TensorOptions(grad.device()).dtype(kLong);
    const Tensor uses = keyway::zeros({num_weights}, counts).index_add(0, flat, keyway::ones({flat.numel()}, counts));
    rows = (wide(rows) / uses.index_select(0, flat).reshape(indices.sizes()).unsqueeze(-1)).to(grad.dtype());
  }
  return padding_idx < 0 ? rows : rows.masked_fill((indices == padding_idx).unsqueeze(-1), 0);
}

Tensor gather_backward(const Tensor& grad, IntArrayRef sizes, std::int64_t dim, const Tensor& index) {
  return keyway::zeros(sizes, grad.options()).scatter_add(dim, index, grad);
}

Tensor index_add_source_backward(const Tensor& grad, std::int64_t dim, const Tensor& index, IntArrayRef sizes,
                                 const Scalar& alpha) {
  const Tensor rows = grad.index_select(dim, index).reshape(sizes);
  return alpha.is_integral(true) && alpha.to<std::int64_t>() == 1 ? rows : rows * alpha;
}

Tensor index_backward(const Tensor& grad, IntArrayRef sizes, ArrayRef<std::optional<Tensor>> indices) {
  return keyway::_index_put(keyway::zeros(sizes, grad.options()), indices, grad, true);
}

Tensor index_select_backward(const Tensor& grad, IntArrayRef sizes, std::int64_t dim, const Tensor& index) {
  return keyway::zeros(sizes, grad.options()).index_add(dim, index, grad);
}

Tensor index_copy_backward(const Tensor& grad, std::int64_t dim, const Tensor& index) {
  return grad.index_copy(dim, index, keyway::zeros_like(grad.index_select(dim, index)));
}

Tensor index_put_backward(const Tensor& grad, ArrayRef<std::optional<Tensor>> indices, bool accumulate) {
  return accumulate ? grad : keyway::_index_put(grad, indices, keyway::zeros({}, grad.options()));
}

// The gradient is shared out: among the terms of a mean, and among the elements that are the extreme.
std::tuple<Tensor, Tensor> scatter_reduce_backward(const Tensor& grad, const Tensor& self, std::int64_t dim,
                                                   const Tensor& index, const Tensor& src, std::string_view reduce,
                                                   bool include_self, const Tensor& result) {
  if (reduce == "prod") return scatter_product_backward(grad, self, dim, index, src, include_self);
  const auto without_targets = [&](const Tensor& x) { return include_self ? x : x.scatter(dim, index, 0); };
  if (reduce == "sum") return {without_targets(grad), scatter_src_backward(grad, dim, index, src.sizes())};
  if (reduce == "mean") {
    const TensorOptions counts = TensorOptions(grad.device()).dtype(kLong);
    const Tensor own = without_targets(keyway::ones(grad.sizes(), counts));
    const Tensor share =
        (wide(grad) / own.scatter_add(dim, index, keyway::ones(index.sizes(), counts))).to(grad.dtype());
    return {without_targets(share), scatter_src_backward(share, dim, index, src.sizes())};
  }
  const Tensor chosen = first_of(src, index.sizes());
  const Tensor is_extreme = (chosen == result.gather(dim, index)).to(kLong);
  const Tensor self_is = without_targets((self == result).to(kLong));
  const Tensor winners = self_is.scatter_add(dim, index, is_extreme);
  const Tensor share = (wide(grad) / winners).to(grad.dtype());
  return {share * self_is, padded(share.gather(dim, index) * is_extreme, src.sizes())};
}

Tensor scatter_src_backward(const Tensor& grad, std::int64_t dim, const Tensor& index, IntArrayRef sizes) {
  return padded(grad.gather(dim, index), sizes);
}

}  // namespace keyway::inline v1::autograd
