#include <keyway/nn/utils/clip_grad.h>
#include <keyway/ops/all.h>

#include <cmath>

namespace keyway::inline v1::nn::utils {

double clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, bool error_if_nonfinite) {
  const NoGradGuard no_grad;
  std::vector<Tensor> grads;
  double squares = 0;
  for (const Tensor& parameter : parameters) {
    const Tensor grad = parameter.grad();
    if (!grad.defined()) continue;
    grads.push_back(grad.detach());
    squares += mul(grad, grad).sum().item<double>();
  }
  const double norm = std::sqrt(squares);
  KEYWAY_CHECK(!error_if_nonfinite || std::isfinite(norm), "clip_grad_norm_: the norm of the gradients is {}", norm);
  constexpr double kTiny = 1e-6;  // PyTorch's
  const double scale = max_norm / (norm + kTiny);
  if (scale < 1) {
    for (const Tensor& grad : grads) grad.mul_(scale);
  }
  return norm;
}

}  // namespace keyway::inline v1::nn::utils
