#include <keyway/autograd/formulas.h>
#include <keyway/ops/all.h>

namespace keyway::inline v1::autograd {

Tensor index_select_backward(const Tensor& grad, IntArrayRef sizes, std::int64_t dim, const Tensor& index) {
  if (sizes.empty()) return grad.sum();
  return keyway::zeros(sizes, grad.options()).index_add(dim, index, grad);
}

}  // namespace keyway::inline v1::autograd
