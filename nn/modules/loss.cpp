#include <keyway/core/dtype/promote_types.h>
#include <keyway/nn/functional/opmath.h>
#include <keyway/nn/modules/loss.h>
#include <keyway/nn/optional.h>
#include <keyway/ops/all.h>

namespace keyway::inline v1::nn {

Tensor L1LossImpl::forward(const Tensor& input, const Tensor& target) {
  return l1_loss(input, target, options.reduction());
}

Tensor MSELossImpl::forward(const Tensor& input, const Tensor& target) {
  return mse_loss(input, target, options.reduction());
}

Tensor SmoothL1LossImpl::forward(const Tensor& input, const Tensor& target) {
  if (options.beta() == 0) return l1_loss(input, target, options.reduction());
  return smooth_l1_loss(input, target, options.reduction(), options.beta());
}

Tensor HuberLossImpl::forward(const Tensor& input, const Tensor& target) {
  return huber_loss(input, target, options.reduction(), options.delta());
}

Tensor KLDivLossImpl::forward(const Tensor& input, const Tensor& target) {
  if (options.reduction() != kBatchMean) return kl_div(input, target, options.reduction(), options.log_target());
  const Tensor x = functional::to_opmath(input), y = functional::to_opmath(target);
  const Tensor total = kl_div(x, y, Reduction::Sum, options.log_target());
  if (input.dim() == 0) return total;
  return total.div(input.size(0)).to(promote_types(input.dtype(), target.dtype()));
}

Tensor SoftMarginLossImpl::forward(const Tensor& input, const Tensor& target) {
  return soft_margin_loss(input, target, options.reduction());
}

Tensor NLLLossImpl::forward(const Tensor& input, const Tensor& target) {
  return nll_loss_nd(input, target, if_defined(weight), options.reduction(), options.ignore_index());
}

Tensor CrossEntropyLossImpl::forward(const Tensor& input, const Tensor& target) {
  return cross_entropy_loss(input, target, if_defined(weight), options.reduction(), options.ignore_index(),
                            options.label_smoothing());
}

Tensor BCELossImpl::forward(const Tensor& input, const Tensor& target) {
  return binary_cross_entropy(input, target, if_defined(weight), options.reduction());
}

BCEWithLogitsLossImpl::BCEWithLogitsLossImpl(BCEWithLogitsLossOptions options_)
    : WeightedLoss(std::move(options_)), pos_weight(register_buffer("pos_weight", options.pos_weight())) {}
Tensor BCEWithLogitsLossImpl::forward(const Tensor& input, const Tensor& target) {
  return binary_cross_entropy_with_logits(input, target, if_defined(weight), if_defined(pos_weight),
                                          options.reduction());
}

}  // namespace keyway::inline v1::nn
