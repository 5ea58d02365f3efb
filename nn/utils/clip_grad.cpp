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

}  // namespace

double clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, double norm_type,
                       bool error_if_nonfinite) {
  KEYWAY_CHECK(!std::isnan(norm_type), "clip_grad_norm_: argument 'norm_type' is nan, which is no order of a norm");
  const NoGradGuard no_grad;
  std::vector<Tensor> grads, norms;
  for (const Tensor& parameter : parameters) {
    const Tensor grad = parameter.grad();
    if (!grad.defined()) continue;
    grads.push_back(grad.detach());
    const Tensor sizes = real_with_norm_of(grads.back(), norm_type);
    // Norms of 16-bit floats may be greater than their dtype holds.
    const ScalarType wide = promote_types(sizes.dtype(), kFloat);
    norms.push_back(linalg_vector_norm(sizes, norm_type, std::nullopt, false, wide).to(grads[0].device(), kDouble));
  }
  if (grads.empty()) return 0;
  const Tensor norm = linalg_vector_norm(stack(norms), norm_type);
  double known = 0;  // the one time that the host waits for a device
  if (error_if_nonfinite) {
    known = norm.item<double>();
    KEYWAY_CHECK(std::isfinite(known), "clip_grad_norm_: the norm of the gradients is {}", known);
  }
  constexpr double kTiny = 1e-6;  // PyTorch's
  const Tensor scale = (norm + kTiny).reciprocal().mul(max_norm).clamp_max(1);
  for (const Tensor& grad : grads) grad.mul_(scale.to(grad.device()));
  return error_if_nonfinite ? known : norm.item<double>();
}

}  // namespace keyway::inline v1::nn::utils
