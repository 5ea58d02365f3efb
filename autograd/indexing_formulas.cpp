#include <keyway/autograd/formulas.h>
#include <keyway/autograd/indexing_formulas.h>
#include <keyway/ops/all.h>

namespace keyway::inline v1::autograd {

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

Tensor scatter_src_backward(const Tensor& grad, std::int64_t dim, const Tensor& index, IntArrayRef sizes) {
  Tensor rows = grad.gather(dim, index);
  for (std::int64_t d = 0; d < rows.dim(); ++d) {
    const std::int64_t size = rows.size(d);
    if (size == sizes[static_cast<std::size_t>(d)]) continue;
    DimVector padded = rows.sizes();
    padded[static_cast<std::size_t>(d)] = sizes[static_cast<std::size_t>(d)];
    rows = slice_backward(rows, padded, d, 0, size, 1);
  }
  return rows.reshape(sizes);
}

}  // namespace keyway::inline v1::autograd
