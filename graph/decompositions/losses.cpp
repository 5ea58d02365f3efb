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
  const Tensor losses =
      (of_some_class(x).gather(-1, classes.indices).squeeze(-1) * -weights).masked_fill(classes.ignored, 0);
  const Tensor total = weights.sum();
  const auto narrowed = [&](const Tensor& result) { return composite::narrowed(result, self.dtype()); };
  if (reduction == Reduction::None) return {narrowed(losses), keyway::zeros_like(narrowed(total))};
  const Tensor sum = losses.sum();
  return {narrowed(reduction == Reduction::Mean ? sum / total : sum), narrowed(total)};
}

Tensor grad_of_classes(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                       const std::optional<Tensor>& weight, std::int64_t reduction, std::int64_t ignore_index,
                       const Tensor& total_weight) {
  if (self.size(-1) == 0) return keyway::zeros_like(self);
  const Tensor grad = composite::to_opmath(grad_output);
  const Classes classes(target, ignore_index);
  const Tensor of_mean = reduction == Reduction::Mean ? grad / composite::to_opmath(total_weight) : grad;
  const Tensor scale = self.dim() == 1 || reduction != Reduction::None ? of_mean.reshape({}) : of_mean;
  const Tensor slopes = (scale * -classes.weights(weight, grad.dtype())).masked_fill(classes.ignored, 0).unsqueeze(-1);
  const Tensor zeros = keyway::zeros_like(self, TensorOptions().dtype(grad.dtype()));
  return composite::narrowed(zeros.scatter(-1, classes.indices, slopes), self.dtype());
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

// Less the probabilities, each as often as its row counts.
Tensor cross_entropy_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                              const std::optional<Tensor>& weight, std::int64_t reduction, std::int64_t ignore_index,
                              const Tensor& total_weight, const Tensor& normalizer) {
  const Tensor x = composite::to_opmath(self);
  const std::optional<Tensor> weights = weight ? std::optional(composite::to_opmath(*weight)) : std::nullopt;
  const Tensor grad = grad_of_classes(composite::to_opmath(grad_output), x, target, weights, reduction, ignore_index,
                                      composite::to_opmath(total_weight));
  const Tensor greatest = normalizer.narrow(-1, 0, 1), logarithm = normalizer.narrow(-1, 1, 1);
  const Tensor probabilities = (x - greatest - logarithm).exp();
  return composite::narrowed(grad - probabilities * grad.sum({-1}, true), self.dtype());
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
