#include <keyway/autograd/softmax_formulas.h>
#include <keyway/ops/all.h>

namespace keyway::inline v1::autograd {

// `grad` has the dtype of softmax's input, which is narrower than that of its result after half_to_float.

Tensor softmax_backward_grad(const Tensor& grad, std::int64_t dim, const Tensor& output) {
  const Tensor g = grad.to(output.dtype());
  return keyway::_softmax_backward_data(g, output, dim, output.dtype());
}

Tensor softmax_double_backward(const Tensor& grad, const Tensor& grad_output, std::int64_t dim, const Tensor& output) {
  const Tensor g = grad.to(output.dtype());
  return g * grad_output - g * (output * grad_output).sum(dim, true) - grad_output * (output * g).sum(dim, true);
}

Tensor log_softmax_backward_grad(const Tensor& grad, std::int64_t dim, const Tensor& output) {
  const Tensor g = grad.to(output.dtype());
  return g - (g * output.exp()).sum(dim, true);
}

Tensor log_softmax_double_backward(const Tensor& grad, const Tensor& grad_output, std::int64_t dim,
                                   const Tensor& output) {
  return -(grad_output.sum(dim, true) * output.exp() * grad.to(output.dtype()));
}

}  // namespace keyway::inline v1::autograd
