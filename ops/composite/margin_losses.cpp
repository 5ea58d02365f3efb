// Losses of distances, margins and likelihoods.
#include <keyway/ops/composite/losses.h>
#include <keyway/ops/composite/opmath.h>
#include <keyway/ops/loss_composites.h>
#include <keyway/ops/rules/promotion.h>

#include <numbers>

namespace keyway::inline v1::composite {

// The cosines are those of vectors whose squared lengths have a little added: of none it is 0.
Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin,
                             std::int64_t reduction) {
  constexpr double kLittle = 1e-12;
  const auto product = [](const Tensor& a, const Tensor& b) { return (a * b).sum(-1); };
  const Tensor a = to_opmath(input1), b = to_opmath(input2);
  const Tensor squares = (product(a, a) + kLittle) * (product(b, b) + kLittle);
  const Tensor cosine = product(a, b) / squares.sqrt();
  const Tensor alike = keyway::where(target == 1, 1 - cosine, 0);
  const Tensor unlike = keyway::where(target == -1, (cosine - margin).clamp_min(0), 0);
  return narrowed(reduced(alike + unlike, reduction), (Promotion() << input1 << input2).result());
}

Tensor hinge_embedding_loss(const Tensor& self, const Tensor& target, double margin, std::int64_t reduction) {
  const Tensor unlike = keyway::where(target != 1, (margin - self).clamp_min(0), 0);
  return reduced(unlike + keyway::where(target != -1, self, 0), reduction);
}

Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin,
                           std::int64_t reduction) {
  return reduced((-target * (input1 - input2) + margin).clamp_min(0), reduction);
}

// The class that is wanted takes no part in the sum.
Tensor multi_margin_loss(const Tensor& self, const Tensor& target, const Scalar& p, const Scalar& margin,
                         const std::optional<Tensor>& weight, std::int64_t reduction) {
  const Tensor rows = to_opmath(self.dim() == 2 ? self : self.reshape({1, self.numel()}));
  const Tensor classes = target.reshape({rows.size(0), 1});
  Tensor excess = (rows - rows.gather(1, classes) + margin).clamp_min(0);
  if (p.to<double>() == 2) excess = excess * excess;
  if (weight && weight->defined()) excess = excess * weight->reshape({-1}).take(classes);
  const Tensor loss = excess.scatter(1, classes, 0).sum(1) / static_cast<double>(rows.size(1));
  return narrowed(reduced(target.dim() == 0 ? loss.reshape({}) : loss, reduction), self.dtype());
}

// Targets count up to the first that is -1. Each is compared with all classes that are no targets.
Tensor multilabel_margin_loss(const Tensor& self, const Tensor& target, std::int64_t reduction) {
  const Tensor rows = to_opmath(self.dim() == 2 ? self : self.reshape({1, self.numel()}));
  const Tensor labels = target.reshape(rows.sizes());
  const Tensor counts = (labels == -1).cumsum(1) == 0;
  const Tensor classes = labels.masked_fill(counts.logical_not(), 0);
  const Tensor wanted = keyway::zeros_like(classes).scatter_add(1, classes, counts.to(kLong)) > 0;
  const Tensor margins = (1 - rows.gather(1, classes).unsqueeze(2) + rows.unsqueeze(1)).clamp_min(0);
  const Tensor compared = counts.unsqueeze(2).logical_and(wanted.logical_not().unsqueeze(1));
  const Tensor losses = keyway::where(compared, margins, 0).sum(IntArrayRef{1, 2});
  const Tensor loss = losses / static_cast<double>(rows.size(1));
  return narrowed(reduced(self.dim() == 2 ? loss : loss.reshape({}), reduction), self.dtype());
}

// Stirling's formula stands in for the logarithm of a target's factorial, which of 0 and 1 is 0.
Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, bool log_input, bool full, double eps,
                        std::int64_t reduction) {
  Tensor loss = log_input ? input.exp() - target * input : input - target * (input + eps).log();
  if (full) {
    const Tensor is_small = target <= 1;
    const Tensor count = target.masked_fill(is_small, 1);
    const Tensor factorial = count * count.log() - count + (count * (2 * std::numbers::pi)).log() * 0.5;
    loss = loss + factorial.masked_fill(is_small, 0);
  }
  return reduced(loss, reduction);
}

Tensor soft_margin_loss(const Tensor& self, const Tensor& target, std::int64_t reduction) {
  const Tensor agreement = target * self;
  return reduced(-keyway::log_sigmoid(agreement.to(to_float(agreement.dtype()))), reduction);
}

Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative, double margin,
                           double p, double eps, bool swap, std::int64_t reduction) {
  const Tensor near = keyway::pairwise_distance(anchor, positive, p, eps);
  Tensor far = keyway::pairwise_distance(anchor, negative, p, eps);
  if (swap) far = keyway::minimum(far, keyway::pairwise_distance(positive, negative, p, eps));
  return reduced((near - far + margin).clamp_min(0), reduction);
}

}  // namespace keyway::inline v1::composite
