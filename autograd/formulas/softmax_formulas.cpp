#include <keyway/autograd/helpers_loss.h>
#include <keyway/autograd/helpers_softmax.h>
#include <keyway/core/tensor/reduction.h>
#include <keyway/ops/all.h>

#include <optional>

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

namespace {

// `grad` less what it is on average, with the probabilities of a row as weights.
Tensor from_expected(const Tensor& grad, const Tensor& probabilities) {
  return grad - (grad * probabilities).sum(-1, true);
}
std::optional<Tensor> optional(const Tensor& tensor) {
  return tensor.defined() ? std::optional<Tensor>(tensor) : std::nullopt;
}

}  // namespace

// The result is k (p - 1 at the target) for a row of probabilities p, with k = weight grad_output / divisor.

Tensor cross_entropy_backward_grad(const Tensor& grad, const Tensor& self, const Tensor& target, const Tensor& weight,
                                   std::int64_t reduction, std::int64_t ignore_index, const Tensor& total_weight) {
  const bool mean = reduction == Reduction::Mean;
  const Tensor distance = from_expected(grad, keyway::softmax(self, -1));
  const Tensor loss =
      keyway::nll_loss(distance, target, optional(weight), mean ? Reduction::Sum : reduction, ignore_index);
  return mean ? loss / total_weight : loss;
}

Tensor cross_entropy_double_backward(const Tensor& grad, const Tensor& grad_output, const Tensor& self,
                                     const Tensor& target, const Tensor& weight, std::int64_t reduction,
                                     std::int64_t ignore_index, const Tensor& total_weight) {
  const Tensor probabilities = keyway::softmax(self, -1);
  const Tensor scales =
      keyway::nll_loss_backward(grad_output, self, target, optional(weight), reduction, ignore_index, total_weight);
  return probabilities * from_expected(grad, probabilities) * -scales.sum(-1, true);
}

}  // namespace keyway::inline v1::autograd
