#include <keyway/autograd/helpers_linalg.h>
#include <keyway/ops/all.h>

namespace keyway::inline v1::autograd {

Tensor scaled(const Tensor& grad, const Scalar& factor) { return factor == Scalar(1) ? grad : grad * factor; }

Tensor product_like(const Tensor& a, const Tensor& b, IntArrayRef strides) {
  const auto product = [](const Tensor& x, const Tensor& y) { return x.dim() == 2 ? mm(x, y) : bmm(x, y); };
  const std::size_t rank = strides.size();
  const bool transposed = strides[rank - 2] == 1 && strides[rank - 1] > 1;
  if (!transposed) return product(a, b);
  return product(b.transpose(-2, -1), a.transpose(-2, -1)).transpose(-2, -1);
}

}  // namespace keyway::inline v1::autograd
