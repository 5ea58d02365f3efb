#include <keyway/core/tensor/reduction.h>
#include <keyway/graph/decompositions/decompositions.h>

#include <limits>
#include <optional>
#include <tuple>

namespace keyway::inline v1::graph::decompositions {
namespace {

// Where there are no classes all targets are ignored, and look at one that is added.
Tensor of_some_class(const Tensor& x) { return x.size(-1) == 0 ? keyway::constant_pad_nd(x, {0, 1}) : x; }

// The classes that `target` names, beside the dimension of classes, with 0 for those that are to be ignored.
struct Classes {
  Tensor indices;  // with a last dimension of size 1
  Tensor ignored;

  Classes(const Tensor& target, std::int64_t ignore_index) {
    const Tensor named = target.to(kLong);
    ignored = named == ignore_index;
    indices = named.masked_fill(ignored, 0).unsqueeze(-1);
  }
  // The weight of each; 0 if it is ignored.
  Tensor weights(const std::optional<Tensor>& weight, ScalarType dtype) const {
    if (!weight || !weight->defined()) return ignored.logical_not().to(dtype);
    const Tensor named = of_some_class(weight->to(dtype)).index_select(0, indices.reshape(-1));
    return named.reshape(ignored.sizes()).masked_fill(ignored, 0);
  }
};

std::tuple<Tensor, Tensor> losses_of_classes(const Tensor& self, const Tensor& target,
                                             const std::optional<Tensor>& weight, std::int64_t reduction,
                                             std::int64_t ignore_index) {
  const Tensor x = composite::to_opmath(self);
  const Classes classes(target, ignore_index);
  const Tensor weights = classes.weights(weight, x.dtype());
  const Tensor named = of_some_class(x).gather(-1, classes.indices).squeeze(-1);
  if (reduction == Reduction::None) {
    const Tensor losses = composite::narrowed((named * -weights).masked_fill(classes.ignored, 0), self.dtype());
    return {losses, keyway::zeros({}, self.options())};
  }
  // As kernels do: products of float32 are beyond its range where their mean is not.
  const Tensor wide_weights = weights.to(kDouble), total = wide_weights.sum();
  const Tensor sum = 0 - (named.to(kDouble) * wide_weights).masked_fill(classes.ignored, 0).sum();
  return {(reduction == Reduction::Mean ? sum / total : sum).to(self.dtype()), total.to(self.dtype())};
}

// The gradient of each row's loss, times its weight; for rows [N, C] of classes, [N, 1].
Tensor slopes_of(const Tensor& grad_output, const Tensor& self, const Classes& classes,
                 const std::optional<Tensor>& weight, std::int64_t reduction, const Tensor& total_weight) {
  const Tensor grad = composite::to_opmath(grad_output);
  const Tensor of_mean = reduction == Reduction::Mean ? grad / composite::to_opmath(total_weight) : grad;
  const Tensor scale = self.dim() == 1 || reduction != Reduction::None ? of_mean.reshape({}) : of_mean;
  return (scale * classes.weights(weight, grad.dtype())).unsqueeze(-1);
}

Tensor grad_of_classes(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                       const std::optional<Tensor>& weight, std::int64_t reduction, std::int64_t ignore_index,
                       const Tensor& total_weight) {
  if (self.size(-1) == 0) return keyway::zeros_like(self);
  const Classes classes(target, ignore_index);
  const Tensor slopes = -slopes_of(grad_output, self, classes, weight, reduction, total_weight);
  const Tensor zeros = keyway::zeros_like(self, TensorOptions().dtype(slopes.dtype()));
  const Tensor counted = slopes.masked_fill(classes.ignored.unsqueeze(-1), 0);
  return composite::narrowed(zeros.scatter(-1, classes.indices, counted), self.dtype());
}

std::tuple<Tensor, Tensor, Tensor> cross_entropy_forward(const Tensor& self, const Tensor& target,
                                                         const std::optional<Tensor>& weight, std::int64_t reduction,
                                                         std::int64_t ignore_index) {
  const Tensor x = composite::to_opmath(self);
  const std::optional<Tensor> weights = weight ? std::optional(composite::to_opmath(*weight)) : std::nullopt;
  const auto [loss, total] =
      losses_of_classes(keyway::_log_softmax(x, -1, false), target, weights, reduction, ignore_index);
  const NoGradGuard no_grad;  // what is kept for a backward has no derivative
  const Tensor greatest =
      x.size(-1) == 0 ? of_some_class(x) - std::numeric_limits<double>::infinity() : x.amax({-1}, true);
  const Tensor logarithm = (x - greatest).exp().sum({-1}, true).log();
  return {composite::narrowed(loss, self.dtype()), composite::narrowed(total, self.dtype()),
          keyway::cat({greatest, logarithm}, -1)};
}

// Of the probabilities, and of that of the target less 1.
Tensor cross_entropy_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                              const std::optional<Tensor>& weight, std::int64_t reduction, std::int64_t ignore_index,
                              const Tensor& total_weight, const Tensor& normalizer) {
  if (self.size(-1) == 0) return keyway::zeros_like(self);
  const Classes classes(target, ignore_index);
  const Tensor slopes = slopes_of(grad_output, self, classes, weight, reduction, total_weight);
  const Tensor greatest = normalizer.narrow(-1, 0, 1), logarithm = normalizer.narrow(-1, 1, 1);
  const Tensor logarithms = composite::to_opmath(self) - greatest - logarithm;
  const Tensor is_target = keyway::zeros_like(self, TensorOptions().dtype(kBool)).scatter(-1, classes.indices, true);
  const Tensor grad = keyway::where(is_target, logarithms.expm1(), logarithms.exp()) * slopes;
  return composite::narrowed(grad.masked_fill(classes.ignored.unsqueeze(-1), 0), self.dtype());
}

Tensor smooth_l1(const Tensor& self, const Tensor& target, double beta, double scale) {
  return in_opmath(
      [&](const Tensor& x, const Tensor& y) {
        const Tensor difference = x - y, distance = difference.abs();
        return keyway::where(distance < beta, difference * difference * (0.5 / beta), distance - 0.5 * beta) * scale;
      },
      self, target);
}

Tensor smooth_l1_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target, double beta,
                          double scale) {
  return in_opmath([&](const Tensor& grad, const Tensor& x,
                       const Tensor& y) { return grad * ((x - y) / beta).clamp(-1, 1) * scale; },
                   grad_output, self, target);
}

}  // namespace

void add_losses(Decompositions& table) {
  table.set("_cross_entropy_backward", &cross_entropy_backward);
  table.set("_cross_entropy_forward", &cross_entropy_forward);
  table.set("_smooth_l1", &smooth_l1);
  table.set("_smooth_l1_backward", &smooth_l1_backward);
  table.set("nll_loss_backward", &grad_of_classes);
  table.set("nll_loss_forward", &losses_of_classes);
}

}  // namespace keyway::inline v1::graph::decompositions
