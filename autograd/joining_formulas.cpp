#include <keyway/autograd/joining_formulas.h>
#include <keyway/ops/all.h>

namespace keyway::inline v1::autograd {

std::vector<Tensor> cat_backward(const Tensor& grad, const std::vector<DimVector>& sizes, std::int64_t dim) {
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

Tensor split_with_sizes_backward(ArrayRef<Tensor> grads, IntArrayRef sizes, IntArrayRef, std::int64_t dim) {
  if (grads.empty()) return keyway::zeros(sizes);
  return keyway::cat(grads, dim);
}

Tensor unbind_backward(ArrayRef<Tensor> grads, std::int64_t dim) { return keyway::stack(grads, dim); }

}  // namespace keyway::inline v1::autograd
