#include <keyway/autograd/helpers_joining.h>
#include <keyway/ops/all.h>

#include <algorithm>

namespace keyway::inline v1::autograd {

std::vector<Tensor> cat_backward(const Tensor& grad, ArrayRef<DimVector> sizes, std::int64_t dim) {
  std::vector<Tensor> parts;
  const std::int64_t at = wrap_dim(dim, grad.dim());
  std::int64_t start = 0;
  for (const DimVector& size : sizes) {
    if (size == DimVector{0} && grad.dim() != 1) {
      parts.push_back(keyway::zeros({0}, grad.options()));
      continue;
    }
    const std::int64_t length = size[static_cast<std::size_t>(at)];
    parts.push_back(grad.narrow(at, start, length));
    start += length;
  }
  return parts;
}

namespace {

// The first gradient that there is: a node runs only if there is one.
const Tensor& any_of(ArrayRef<Tensor> grads) {
  return *std::find_if(grads.begin(), grads.end(), [](const Tensor& grad) { return grad.defined(); });
}

}  // namespace

// Results that nothing was computed from have no gradient: it is zero.
Tensor split_with_sizes_backward(ArrayRef<Tensor> grads, IntArrayRef sizes, IntArrayRef split_sizes, std::int64_t dim) {
  const TensorOptions options = any_of(grads).options();
  const auto at = static_cast<std::size_t>(wrap_dim(dim, static_cast<std::int64_t>(sizes.size())));
  std::vector<Tensor> parts;
  for (std::size_t i = 0; i < grads.size(); ++i) {
    DimVector part(sizes);
    part[at] = split_sizes[i];
    parts.push_back(grads[i].defined() ? grads[i] : keyway::zeros(part, options));
  }
  return keyway::cat(parts, dim);
}

Tensor unbind_backward(ArrayRef<Tensor> grads, std::int64_t dim) {
  const Tensor& any = any_of(grads);
  std::vector<Tensor> parts;
  for (const Tensor& grad : grads) parts.push_back(grad.defined() ? grad : keyway::zeros(any.sizes(), any.options()));
  return keyway::stack(parts, dim);
}

}  // namespace keyway::inline v1::autograd
