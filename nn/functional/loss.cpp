#include <keyway/nn/functional/loss.h>
#include <keyway/ops/all.h>

#include <cmath>
#include <numbers>

namespace keyway::inline v1::nn::functional {

namespace {

Tensor reduced(const Tensor& loss, std::int64_t reduction) {
  if (reduction == Reduction::None) return loss;
  return reduction == Reduction::Mean ? loss.mean() : loss.sum();
}

// Variances that broadcast with the input.
Tensor fitting(const Tensor& var, const Tensor& input) {
  if (var.sizes() == input.sizes()) return var;
  const std::int64_t dims = input.dim();
  if (var.dim() + 1 == dims && var.sizes() == input.sizes().slice(0, static_cast<std::size_t>(dims - 1))) {
    return var.unsqueeze(-1);
  }
  std::int64_t different = 0;
  for (std::int64_t i = 0; i < dims && var.dim() == dims; ++i) {
    if (var.size(i) != input.size(i)) different += var.size(i) == 1 ? 1 : 2;
  }
  KEYWAY_CHECK(different == 1, "gaussian_nll_loss: var has shape {}, which does not fit an input {}", var.sizes(),
               input.sizes());
  return var;
}

}  // namespace

Tensor multilabel_soft_margin_loss(const Tensor& input, const Tensor& target, const Tensor& weight,
                                   std::int64_t reduction) {
  const Tensor held = target.mul(log_sigmoid(input)).add(target.neg().add(1).mul(log_sigmoid(input.neg())));
  const Tensor loss = weight.defined() ? held.neg().mul(weight) : held.neg();
  return reduced(loss.sum(IntArrayRef({input.dim() - 1})).div(input.size(-1)), reduction);
}

Tensor triplet_margin_with_distance_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                                         const std::function<Tensor(const Tensor&, const Tensor&)>& distance_function,
                                         double margin, bool swap, std::int64_t reduction) {
  KEYWAY_CHECK(margin > 0, "triplet_margin_with_distance_loss: margin is {}, but must be greater than 0", margin);
  KEYWAY_CHECK(
      anchor.dim() == positive.dim() && anchor.dim() == negative.dim(),
      "triplet_margin_with_distance_loss: the tensors have {}, {} and {} dimensions, but must have as many each",
      anchor.dim(), positive.dim(), negative.dim());
  const auto distance = [&](const Tensor& a, const Tensor& b) {
    return distance_function ? distance_function(a, b) : pairwise_distance(a, b);
  };
  const Tensor near = distance(anchor, positive);
  Tensor far = distance(anchor, negative);
  if (swap) far = minimum(far, distance(positive, negative));
  return reduced(near.sub(far).add(margin).clamp(Scalar(0)), reduction);
}

Tensor gaussian_nll_loss(const Tensor& input, const Tensor& target, const Tensor& var, bool full, double eps,
                         std::int64_t reduction) {
  const Tensor fits = fitting(var, input);
  KEYWAY_CHECK(!fits.lt(0).any().item<bool>(), "gaussian_nll_loss: var has negative elements");
  const Tensor held = fits.clone();
  {
    const NoGradGuard no_grad;
    held.clamp_(Scalar(eps));
  }
  const Tensor loss = held.log().add(input.sub(target).square().div(held)).mul(0.5);
  return reduced(full ? loss.add(0.5 * std::log(2 * std::numbers::pi)) : loss, reduction);
}

}  // namespace keyway::inline v1::nn::functional
