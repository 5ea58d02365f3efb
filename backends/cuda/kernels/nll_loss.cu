// nll_loss: of each row of log-probabilities the negative of the one that its target names, times the weight of that
// class. A row whose target is `ignore_index` counts for nothing. The gradient is written once, and bound by that.
#include <keyway/backends/cuda/kernels/kernels_loss.h>
#include <keyway/backends/cuda/kernels/losses.cuh>
#include <keyway/core/dtype/visit_dtype.h>

namespace keyway::inline v1::cuda {

namespace {

// Operands: grad_input, the target, the gradient of the row's loss, the class.
template <typename T>
struct LossBackward {
  static constexpr const char* kElementError = kBadTarget;
  Classes<T> classes;
  const T* divisor;  // null is 1

  KEYWAY_HD bool operator()(const Element<4>& element) const {
    const std::int64_t target = element.at<const std::int64_t>(1), c = element.number(3);
    T& to = element.at<T>(0);
    to = T(0.0f);
    if (c == target && target != classes.ignored) {
      const Opmath<T> over = divisor != nullptr ? opmath(*divisor) : Opmath<T>(1);
      to = static_cast<T>(-classes.weight(c) * opmath(element.at<const T>(2)) / over);
    }
    return c != 0 || classes.has(target);
  }
};

}  // namespace

void nll_loss_forward(const TensorBase& self, const TensorBase& target, const TensorBase& weight,
                      std::int64_t reduction, std::int64_t ignore_index, TensorBase& output, TensorBase& total_weight) {
  const TensorBase from = with_rows(self), targets = as_column(contiguous_as(target, kLong));
  const TensorBase weights = contiguous(weight);
  visit_floating(self.dtype(), "nll_loss_forward", [&]<typename T>() {
    const Classes<T> classes{data_or_null<const T>(weights), from.sizes()[1], ignore_index};
    write_losses<T>(GivenLog<T>{from.strides()[1]}, from, targets, TensorBase(), classes, reduction == Reduction::Mean,
                    output, total_weight);
  });
}

void nll_loss_backward(const TensorBase& grad_output, const TensorBase& self, const TensorBase& target,
                       const TensorBase& weight, std::int64_t reduction, std::int64_t ignore_index,
                       const TensorBase& total_weight, TensorBase& grad_input) {
  if (self.numel() == 0) return;
  const TensorBase to = with_rows(grad_input), targets = as_column(contiguous_as(target, kLong));
  const TensorBase grad = as_column(grad_output), weights = contiguous(weight);
  const IterationSpace space = ElementSpace(to.sizes()).tensor(to).tensor(targets).tensor(grad).coordinate(1).space();
  visit_floating(self.dtype(), "nll_loss_backward", [&]<typename T>() {
    const Classes<T> classes{data_or_null<const T>(weights), to.sizes()[1], ignore_index};
    const T* const divisor = reduction == Reduction::Mean ? data_or_null<const T>(total_weight) : nullptr;
    each<4>(space, LossBackward<T>{classes, divisor}, self.device());
  });
}

}  // namespace keyway::inline v1::cuda
