#include <keyway/core/dtype/promote_types.h>
#include <keyway/nn/utils/clip_grad.h>
#include <keyway/ops/all.h>

#include <cmath>

namespace keyway::inline v1::nn::utils {

namespace {

// Real numbers whose norm is that of `grad`: of complex ones both parts where squares are added, else absolute values.
Tensor real_with_norm_of(const Tensor& grad, double norm_type) {
  if (!grad.is_complex()) return grad;
  if (norm_type == 2) return view_as_real(grad);
  return grad.to(promote_types(grad.dtype(), kComplexFloat)).abs();  // those of 16-bit parts may be greater too
}

std::vector<Tensor> gradients_of(const std::vector<Tensor>& parameters) {
  std::vector<Tensor> grads;
  for (const Tensor& parameter : parameters) {
    if (const Tensor grad = parameter.grad(); grad.defined()) grads.push_back(grad.detach());
  }
  return grads;
}

Tensor norm_of_all(const char* function, const std::vector<Tensor>& tensors, double norm_type) {
  KEYWAY_CHECK(!std::isnan(norm_type), "{}: argument 'norm_type' is nan, which is no order of a norm", function);
  const NoGradGuard no_grad;
  std::vector<Tensor> norms;
  for (const Tensor& tensor : tensors) {
    const Tensor sizes = real_with_norm_of(tensor, norm_type);
    // Norms of 16-bit floats may be greater than their dtype holds.
    const ScalarType wide = promote_types(sizes.dtype(), kFloat);
    norms.push_back(linalg_vector_norm(sizes, norm_type, std::nullopt, false, wide).to(tensors[0].device(), kDouble));
  }
  return norms.empty() ? zeros({}, kDouble) : linalg_vector_norm(stack(norms), norm_type);
}

}  // namespace

Tensor get_total_norm(const std::vector<Tensor>& tensors, double norm_type, bool error_if_nonfinite) {
  const Tensor norm = norm_of_all("get_total_norm", tensors, norm_type);
  if (error_if_nonfinite) {
    const auto known = norm.item<double>();
    KEYWAY_CHECK(std::isfinite(known), "get_total_norm: the norm of the tensors is {}", known);
  }
  return norm;
}

void clip_grads_with_norm_(const std::vector<Tensor>& parameters, double max_norm, const Tensor& total_norm) {
  constexpr double kTiny = 1e-6;  // PyTorch's
  const NoGradGuard no_grad;
  const Tensor scale = (total_norm + kTiny).reciprocal().mul(max_norm).clamp_max(1);
  for (const Tensor& grad : gradients_of(parameters)) grad.mul_(scale.to(grad.device()));
}

double clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, double norm_type,
                       bool error_if_nonfinite) {
  const Tensor norm = norm_of_all("clip_grad_norm_", gradients_of(parameters), norm_type);
  double known = 0;  // the one time that the host waits for a device
  if (error_if_nonfinite) {
    known = norm.item<double>();
    KEYWAY_CHECK(std::isfinite(known), "clip_grad_norm_: the norm of the gradients is {}", known);
  }
  clip_grads_with_norm_(parameters, max_norm, norm);
  return error_if_nonfinite ? known : norm.item<double>();
}

void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value) {
  const NoGradGuard no_grad;
  for (const Tensor& grad : gradients_of(parameters)) {
    (grad.is_complex() ? view_as_real(grad) : grad).clamp_(Scalar(-clip_value), Scalar(clip_value));
  }
}

}  // namespace keyway::inline v1::nn::utils
