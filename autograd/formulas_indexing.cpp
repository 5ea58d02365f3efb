#include <keyway/autograd/formulas.h>

#include <keyway/ops/all.h>

namespace keyway::inline v1::autograd {

namespace {

// A matrix with a row for each index, 1 at its place.
Tensor one_hot(const Tensor& index, std::int64_t size, ScalarType dtype) {
  const Tensor numbers = keyway::arange(size, index.options());
  return (index.reshape({-1, 1}) == numbers).to(dtype);
}

}  // namespace

Tensor index_select_backward(const Tensor& grad, IntArrayRef sizes, std::int64_t dim, const Tensor& index) {
  if (sizes.empty()) return grad.sum();
  const Tensor rows = grad.transpose(0, dim);
  const Tensor places = one_hot(index, item(sizes, dim), grad.dtype()).t();
  DimVector out_sizes = rows.sizes();
  out_sizes[0] = item(sizes, dim);
  return keyway::mm(places, rows.reshape({rows.size(0), -1})).reshape(out_sizes).transpose(0, dim);
}

Tensor embedding_dense_backward(const Tensor& grad, const Tensor& indices, std::int64_t num_weights,
                                std::int64_t padding_idx, bool scale_grad_by_freq) {
  Tensor places = one_hot(indices, num_weights, grad.dtype());
  if (scale_grad_by_freq) {
    const Tensor counts = places.sum({0}, /*keepdim=*/true);
    places = places / (counts + (counts == 0).to(grad.dtype()));
  }
  if (padding_idx >= 0) places = places * (indices.reshape({-1, 1}) != padding_idx).to(grad.dtype());
  return keyway::mm(places.t(), grad.reshape({-1, grad.size(-1)}));
}

}  // namespace keyway::inline v1::autograd
