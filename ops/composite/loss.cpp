#include <keyway/ops/comparison.h>
#include <keyway/ops/composite/losses.h>
#include <keyway/ops/composite/opmath.h>
#include <keyway/ops/loss_composites.h>
#include <keyway/ops/rules/promotion.h>

#include <tuple>

namespace keyway::inline v1::composite {

namespace {

// Beside numbers bools are numbers.
Tensor difference(const Tensor& self, const Tensor& target) {
  if (self.dtype() != kBool && target.dtype() != kBool) return self - target;
  const ScalarType dtype = (Promotion() << self << target).result();
  return self.to(dtype) - target.to(dtype);
}

std::int64_t class_dim(const Tensor& self) { return self.dim() == 1 ? 0 : 1; }

// `weight` of the classes, to be multiplied with `self`.
Tensor beside_classes(const Tensor& weight, const Tensor& self) {
  DimVector sizes(static_cast<std::size_t>(self.dim()), 1);
  sizes[static_cast<std::size_t>(class_dim(self))] = weight.numel();
  return weight.reshape(sizes);
}

// `target` has the probabilities of all classes.
Tensor cross_entropy_of_probabilities(const Tensor& log_probabilities, const Tensor& target,
                                      const std::optional<Tensor>& weight, std::int64_t reduction,
                                      double label_smoothing) {
  KEYWAY_CHECK(target.is_floating_point(),
               "target has the shape {} of self, so it must hold probabilities, but its dtype is {}", target.sizes(),
               target.dtype());
  const std::int64_t dim = class_dim(log_probabilities), classes = log_probabilities.size(dim);
  Tensor wanted = target;
  if (label_smoothing > 0) {
    wanted = target * (1 - label_smoothing) + label_smoothing / static_cast<double>(classes);
  }
  Tensor loss = log_probabilities * wanted;
  if (weight && weight->defined()) loss = loss * beside_classes(*weight, loss);
  loss = -loss.sum(dim);
  return reduced(loss, reduction);
}

// The part of the loss that wants all classes to be equally likely, times their number.
Tensor smoothing_loss(const Tensor& log_probabilities, const Tensor& target, const std::optional<Tensor>& weight,
                      std::int64_t reduction, std::int64_t ignore_index) {
  const Tensor ignored = target == ignore_index;
  const Tensor weighed = weight ? log_probabilities * beside_classes(*weight, log_probabilities) : log_probabilities;
  const Tensor loss = (-weighed.sum(class_dim(log_probabilities))).masked_fill(ignored, 0);
  if (reduction != kMeanOfLosses) return reduced(loss, reduction);
  const Tensor counted =
      weight ? weight->index_select(0, target.masked_fill(ignored, 0).reshape(-1).to(kLong)).reshape(target.sizes())
             : keyway::ones_like(loss);
  return loss.sum() / counted.masked_fill(ignored, 0).sum();
}

}  // namespace

Tensor nll_loss(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight, std::int64_t reduction,
                std::int64_t ignore_index) {
  return std::get<0>(keyway::nll_loss_forward(self, target, weight, reduction, ignore_index));
}

namespace {

// The loss that `of_rows` gives rows [rows, classes] and their targets: beyond two dimensions every position beside the
// classes is a row of its own.
template <typename F>
Tensor loss_by_rows(const Tensor& self, const Tensor& target, std::int64_t reduction, const F& of_rows) {
  if (self.dim() <= 2) return of_rows(self, target);
  DimVector order{0}, sizes{self.size(0)};
  for (std::int64_t d = 2; d < self.dim(); ++d) {
    order.push_back(d);
    sizes.push_back(self.size(d));
  }
  order.push_back(1);
  KEYWAY_CHECK(target.sizes() == IntArrayRef(sizes), "target has shape {}, but self's shape {} asks for {}",
               target.sizes(), self.sizes(), IntArrayRef(sizes));
  const Tensor rows = self.permute(order).reshape({target.numel(), self.size(1)});
  const Tensor loss = of_rows(rows, target.reshape({target.numel()}));
  return reduction == kNoReduction ? loss.reshape(sizes) : loss;
}

}  // namespace

Tensor nll_loss_nd(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight,
                   std::int64_t reduction, std::int64_t ignore_index) {
  return loss_by_rows(self, target, reduction, [&](const Tensor& rows, const Tensor& targets) {
    return keyway::nll_loss(rows, targets, weight, reduction, ignore_index);
  });
}

Tensor cross_entropy_loss(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight,
                          std::int64_t reduction, std::int64_t ignore_index, double label_smoothing) {
  if (self.sizes() != target.sizes() && label_smoothing == 0) {
    return loss_by_rows(self, target, reduction, [&](const Tensor& rows, const Tensor& targets) {
      return std::get<0>(keyway::_cross_entropy_forward(rows, targets, weight, reduction, ignore_index));
    });
  }
  const std::optional<Tensor> weights = weight && weight->defined() ? to_opmath(*weight) : weight;
  const Tensor log_probabilities = keyway::log_softmax(to_opmath(self), class_dim(self));
  if (self.sizes() == target.sizes()) {
    const Tensor loss =
        cross_entropy_of_probabilities(log_probabilities, to_opmath(target), weights, reduction, label_smoothing);
    Promotion dtype;
    dtype << self << target;
    if (weight) dtype << *weight;
    return narrowed(loss, dtype.result());
  }
  const Tensor loss = keyway::nll_loss_nd(log_probabilities, target, weights, reduction, ignore_index);
  const Tensor smooth = smoothing_loss(log_probabilities, target, weights, reduction, ignore_index);
  const auto classes = static_cast<double>(self.size(class_dim(self)));
  return narrowed(loss * (1 - label_smoothing) + smooth * (label_smoothing / classes), self.dtype());
}

// Logarithms count as -100 at least, so that the loss is finite.
Tensor binary_cross_entropy(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight,
                            std::int64_t reduction) {
  constexpr double kLeast = -100;
  if (self.is_cpu() && self.numel() > 0) {
    const Tensor fits = self.ge(0).logical_and(self.le(1)).all();
    keyway::_assert_async(fits, "all elements of self must be between 0 and 1");
  }
  const Tensor loss = (target - 1) * (-self).log1p().clamp_min(kLeast) - target * self.log().clamp_min(kLeast);
  return reduced(weighed(loss, weight), reduction);
}

Tensor binary_cross_entropy_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                                     const std::optional<Tensor>& weight, std::int64_t reduction) {
  constexpr double kLeast = 1e-12;
  const Tensor slope = (self - target) / ((1 - self) * self).clamp_min(kLeast);
  const Tensor grad = weighed(grad_output * slope, weight);
  return reduction == kMeanOfLosses ? grad / static_cast<double>(self.numel()) : grad;
}

Tensor binary_cross_entropy_with_logits(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight,
                                        const std::optional<Tensor>& pos_weight, std::int64_t reduction) {
  const Tensor surprise = -keyway::log_sigmoid(self);
  const bool has_share = pos_weight && pos_weight->defined();
  const Tensor share = has_share ? (*pos_weight - 1) * target + 1 : Tensor();
  return reduced(weighed((1 - target) * self + (has_share ? share * surprise : surprise), weight), reduction);
}

Tensor huber_loss(const Tensor& self, const Tensor& target, std::int64_t reduction, double delta) {
  return reduced(keyway::_smooth_l1(self, target, delta, delta), reduction);
}

// 0 log 0 is 0.
Tensor kl_div(const Tensor& self, const Tensor& target, std::int64_t reduction, bool log_target) {
  if (log_target) return reduced(target.exp() * (target - self), reduction);
  const Tensor logarithm = keyway::where(target == 0, 1, target).log();
  return reduced(target * (logarithm - self), reduction);
}

Tensor l1_loss(const Tensor& self, const Tensor& target, std::int64_t reduction) {
  return reduced(difference(self, target).abs(), reduction);
}

Tensor smooth_l1_loss(const Tensor& self, const Tensor& target, std::int64_t reduction, double beta) {
  if (beta == 0) return keyway::l1_loss(self, target, reduction);
  return reduced(keyway::_smooth_l1(self, target, beta, 1), reduction);
}

Tensor mse_loss(const Tensor& self, const Tensor& target, std::int64_t reduction) {
  const Tensor distance = difference(self, target);
  return reduced(distance * distance, reduction);
}

Tensor mse_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target, std::int64_t reduction) {
  const Tensor distance = difference(self, target);
  const double scale = reduction == kMeanOfLosses ? 2.0 / static_cast<double>(distance.numel()) : 2.0;
  return distance * (grad_output * scale);
}

}  // namespace keyway::inline v1::composite
