// Losses of rows of numbers, one a class, and of the classes that the rows are of: nll_loss of log-probabilities, and
// cross_entropy of logits. A row whose target is `ignore_index` counts for nothing.
#include <keyway/core/base/error.h>
#include <keyway/core/tensor/reduction.h>

#include <accelerator/kernels.h>
#include <cmath>

namespace accelerator {

using namespace keyway;

namespace {

using Targets = Elements<const std::int64_t>;

void accept(const TensorBase& target) {
  accept_if(target.dtype() == ScalarType::Long, "the accelerator takes int64 for classes");
}

std::int64_t classes_of(const TensorBase& self) { return self.sizes().back(); }

void check(const Targets& target, std::int64_t classes, std::int64_t ignored) {
  for (std::int64_t i = 0; i < target.size(); ++i) {
    KEYWAY_CHECK_AS(Index, target[i] == ignored || (0 <= target[i] && target[i] < classes),
                    "argument 'target' has {} at position {}, but must be in [0, {}) or ignore_index, {}", target[i], i,
                    classes, ignored);
  }
}

template <typename T>
Opmath<T> weight_of(const Elements<const T>& weights, std::int64_t c) {
  return weights.size() == 0 ? 1 : opmath(weights[c]);
}

// Writes the rows' losses, or their sum or mean, where loss(i) is that of row i.
template <typename T, typename F>
void write_losses(const F& loss, const Targets& target, std::int64_t ignored, const Elements<const T>& weights,
                  bool each, bool mean, const Elements<T>& out, const Elements<T>& total_weight) {
  double sum = 0, weight = 0;
  for (std::int64_t i = 0; i < target.size(); ++i) {
    const bool counts = target[i] != ignored;
    const double w = counts ? weight_of(weights, target[i]) : 0;
    const double of_row = counts ? loss(i) * w : 0;
    if (each) out[i] = static_cast<T>(static_cast<Opmath<T>>(of_row));
    sum += of_row;
    weight += w;
  }
  if (!each) out[0] = static_cast<T>(static_cast<Opmath<T>>(mean ? sum / weight : sum));
  total_weight[0] = static_cast<T>(static_cast<Opmath<T>>(each ? 0 : weight));
}

// The gradient of row i's loss, times the weight of its class.
template <typename T>
Opmath<T> gradient_of(std::int64_t i, std::int64_t c, const Elements<const T>& weights, const Elements<const T>& grad,
                      bool mean, const Elements<const T>& total_weight) {
  const Opmath<T> of_row = opmath(grad[grad.size() == 1 ? 0 : i]);
  return weight_of(weights, c) * (mean ? of_row / opmath(total_weight[0]) : of_row);
}

void nll_loss(const TensorBase& self, const TensorBase& target, const TensorBase& weight, std::int64_t reduction,
              std::int64_t ignored, TensorBase& output, TensorBase& total_weight) {
  accept(target);
  visit<kFloats>(self.dtype(), [&]<typename T>() {
    const auto body = [ignored, classes = classes_of(self), each = output.dim() == 1,
                       mean = reduction == Reduction::Mean](Elements<T> out, Elements<T> total, Elements<const T> x,
                                                            Targets targets, Elements<const T> weights) {
      check(targets, classes, ignored);
      const auto loss = [&](std::int64_t i) { return -opmath(x[i * classes + targets[i]]); };
      write_losses(loss, targets, ignored, weights, each, mean, out, total);
    };
    whole<T, T, const T, const std::int64_t, const T>(body, output, total_weight, self, target, weight);
  });
}

void nll_loss_backward(const TensorBase& grad, const TensorBase& self, const TensorBase& target,
                       const TensorBase& weight, std::int64_t reduction, std::int64_t ignored,
                       const TensorBase& total_weight, TensorBase& grad_input) {
  accept(target);
  visit<kFloats>(self.dtype(), [&]<typename T>() {
    const auto body = [ignored, classes = classes_of(self), mean = reduction == Reduction::Mean](
                          Elements<T> out, Elements<const T> g, Targets targets, Elements<const T> weights,
                          Elements<const T> total) {
      check(targets, classes, ignored);
      for (std::int64_t i = 0; i < out.size(); ++i) out[i] = static_cast<T>(0.0f);
      for (std::int64_t i = 0; i < targets.size(); ++i) {
        const std::int64_t c = targets[i];
        if (c != ignored) out[i * classes + c] = static_cast<T>(-gradient_of(i, c, weights, g, mean, total));
      }
    };
    whole<T, const T, const std::int64_t, const T, const T>(body, grad_input, grad, target, weight, total_weight);
  });
}

// Of a row two numbers are kept: its greatest element, and the logarithm of the sum of exp(x - greatest).
void cross_entropy(const TensorBase& self, const TensorBase& target, const TensorBase& weight, std::int64_t reduction,
                   std::int64_t ignored, TensorBase& output, TensorBase& total_weight, TensorBase& normalizer) {
  accept(target);
  visit<kFloats>(self.dtype(), [&]<typename T>() {
    using Acc = Opmath<T>;
    const auto body = [ignored, classes = classes_of(self), each = output.dim() == 1,
                       mean = reduction == Reduction::Mean](Elements<T> out, Elements<T> total, Elements<Acc> kept,
                                                            Elements<const T> x, Targets targets,
                                                            Elements<const T> weights) {
      check(targets, classes, ignored);
      for (std::int64_t row = 0; row < targets.size(); ++row) {
        Acc greatest = -INFINITY, sum = 0;
        for (std::int64_t c = 0; c < classes; ++c) greatest = std::max(greatest, opmath(x[row * classes + c]));
        for (std::int64_t c = 0; c < classes; ++c) sum += std::exp(opmath(x[row * classes + c]) - greatest);
        kept[2 * row] = greatest;
        kept[2 * row + 1] = std::log(sum);
      }
      const auto loss = [&](std::int64_t i) {
        return -(opmath(x[i * classes + targets[i]]) - kept[2 * i] - kept[2 * i + 1]);
      };
      write_losses(loss, targets, ignored, weights, each, mean, out, total);
    };
    whole<T, T, Acc, const T, const std::int64_t, const T>(body, output, total_weight, normalizer, self, target,
                                                           weight);
  });
}

void cross_entropy_backward(const TensorBase& grad, const TensorBase& self, const TensorBase& target,
                            const TensorBase& weight, std::int64_t reduction, std::int64_t ignored,
                            const TensorBase& total_weight, const TensorBase& normalizer, TensorBase& out) {
  accept(target);
  visit<kFloats>(self.dtype(), [&]<typename T>() {
    using Acc = Opmath<T>;
    const auto body = [ignored, classes = classes_of(self), mean = reduction == Reduction::Mean](
                          Elements<T> result, Elements<const T> g, Elements<const T> x, Targets targets,
                          Elements<const T> weights, Elements<const T> total, Elements<const Acc> kept) {
      check(targets, classes, ignored);
      for (std::int64_t i = 0; i < targets.size(); ++i) {
        const bool counts = targets[i] != ignored;
        const Acc scale = counts ? gradient_of(i, targets[i], weights, g, mean, total) : 0;
        for (std::int64_t c = 0; c < classes; ++c) {
          const Acc log_probability = opmath(x[i * classes + c]) - kept[2 * i] - kept[2 * i + 1];
          const Acc slope = c == targets[i] ? std::expm1(log_probability) : std::exp(log_probability);
          result[i * classes + c] = static_cast<T>(counts ? scale * slope : 0);
        }
      }
    };
    whole<T, const T, const T, const std::int64_t, const T, const T, const Acc>(body, out, grad, self, target, weight,
                                                                                total_weight, normalizer);
  });
}

}  // namespace

void register_losses(Library& m) {
  serve(m, "nll_loss_forward", nll_loss);
  serve(m, "nll_loss_backward", nll_loss_backward);
  serve(m, "_cross_entropy_forward", cross_entropy);
  serve(m, "_cross_entropy_backward", cross_entropy_backward);
}

}  // namespace accelerator
