#include <keyway/autograd/formulas.h>
#include <keyway/autograd/indexing_formulas.h>
#include <keyway/ops/all.h>

namespace keyway::inline v1::autograd {

namespace {

// With zeros at the ends of dimensions, so that it has `sizes`.
Tensor padded(Tensor x, IntArrayRef sizes) {
  for (std::int64_t d = 0; d < x.dim(); ++d) {
    const std::int64_t size = x.size(d);
    if (size == sizes[static_cast<std::size_t>(d)]) continue;
    DimVector larger = x.sizes();
    larger[static_cast<std::size_t>(d)] = sizes[static_cast<std::size_t>(d)];
    x = slice_backward(x, larger, d, 0, size, 1);
  }
  return x.reshape(sizes);
}

}  // namespace

Tensor embedding_dense_double_backward(const Tensor& grad, const Tensor& indices, std::int64_t num_weights,
                                       std::int64_t padding_idx, bool scale_grad_by_freq) {
  Tensor rows = keyway::embedding(grad, indices);
  if (scale_grad_by_freq) {
    const Tensor flat = indices.reshape({-1});
    const Tensor ones = keyway::ones({flat.numel()}, grad.options());
    const Tensor uses = keyway::zeros({num_weights}, grad.options()).index_add(0, flat, ones);
    rows = rows / uses.index_select(0, flat).reshape(indices.sizes()).unsqueeze(-1);
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
  KEYWAY_CHECK_AS(NotImplemented, reduce != "prod", "the gradient of scatter_reduce with prod is not there yet");
  const auto without_targets = [&](const Tensor& x) { return include_self ? x : x.scatter(dim, index, 0); };
  if (reduce == "sum") return {without_targets(grad), scatter_src_backward(grad, dim, index, src.sizes())};
  if (reduce == "mean") {
    const Tensor ones = keyway::ones(index.sizes(), grad.options());
    const Tensor terms = without_targets(keyway::ones_like(grad)).scatter_add(dim, index, ones);
    const Tensor share = grad / terms;
    return {without_targets(share), scatter_src_backward(share, dim, index, src.sizes())};
  }
  Tensor chosen = src;
  for (std::int64_t d = 0; d < index.dim(); ++d) chosen = chosen.slice(d, 0, index.size(d));
  const Tensor is_extreme = (chosen == result.gather(dim, index)).to(grad.dtype());
  const Tensor self_is = without_targets((self == result).to(grad.dtype()));
  const Tensor winners = self_is.scatter_add(dim, index, is_extreme);
  const Tensor share = grad / winners;
  return {share * self_is, padded(share.gather(dim, index) * is_extreme, src.sizes())};
}

Tensor scatter_src_backward(const Tensor& grad, std::int64_t dim, const Tensor& index, IntArrayRef sizes) {
  return padded(grad.gather(dim, index), sizes);
}

}  // namespace keyway::inline v1::autograd
