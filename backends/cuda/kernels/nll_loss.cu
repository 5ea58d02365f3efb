// nll_loss: of each row of log-probabilities the negative of the one that its target names, times the weight of that
// class. A row whose target is `ignore_index` counts for nothing.
//
// A row of the loss is one access to memory somewhere, so latency bounds it, and there are many at once. Sums are those
// of the reduction's driver, over terms in double. The gradient is written once, and bound by that.
#include <keyway/backends/cuda/driver/each.cuh>
#include <keyway/backends/cuda/driver/reduction.cuh>
#include <keyway/backends/cuda/kernels/kernels_loss.h>
#include <keyway/backends/cuda/kernels/operands.h>
#include <keyway/backends/cuda/kernels/zeros.h>
#include <keyway/core/reduction.h>
#include <keyway/core/visit_dtype.h>
#include <keyway/ops/functors/opmath.h>

namespace keyway::inline v1::cuda {

namespace {

constexpr const char* kBadTarget = "argument 'target' has an element that is neither a class nor ignore_index";

// The classes, and what is known of them. Weights are null where each is 1.
template <typename T>
struct Classes {
  const T* weights;
  std::int64_t count, ignored;

  KEYWAY_HD bool has(std::int64_t target) const { return target == ignored || (0 <= target && target < count); }
  KEYWAY_HD Opmath<T> weight(std::int64_t c) const { return weights != nullptr ? opmath(weights[c]) : Opmath<T>(1); }
};

// Operands: the loss of a row, its target, its log-probabilities.
template <typename T>
struct LossOfRow {
  static constexpr const char* kRefusal = kBadTarget;
  Classes<T> classes;
  std::int64_t stride;  // from class to class

  KEYWAY_HD bool operator()(const Place<3>& place) const {
    const std::int64_t target = place.at<const std::int64_t>(1);
    if (!classes.has(target)) return false;
    place.at<T>(0) = target == classes.ignored
                         ? T(0.0f)
                         : static_cast<T>(-opmath((&place.at<const T>(2))[target * stride]) * classes.weight(target));
    return true;
  }
};

// What a row adds to the loss, and to the total weight. Operands: the first of both, the target, log-probabilities.
template <typename T>
struct TermsOfRow {
  static constexpr const char* kRefusal = kBadTarget;
  Classes<T> classes;
  std::int64_t stride;
  std::int64_t apart;  // elements from what is added to the loss to what is added to the weight

  KEYWAY_HD bool operator()(const Place<3>& place) const {
    const std::int64_t target = place.at<const std::int64_t>(1);
    double weight = 0, loss = 0;
    const bool known = classes.has(target);
    if (known && target != classes.ignored) {
      weight = static_cast<double>(classes.weight(target));
      loss = -(static_cast<double>(opmath((&place.at<const T>(2))[target * stride])) * weight);
    }
    double* const terms = &place.at<double>(0);
    terms[0] = loss;
    terms[apart] = weight;
    return known;
  }
};

// Operands: the loss, the total weight, and the two sums.
template <typename T>
struct LossOfSums {
  bool mean;

  KEYWAY_HD void operator()(const Place<3>& place) const {
    const double* const sums = &place.at<const double>(2);
    place.at<T>(0) = static_cast<T>(static_cast<Opmath<T>>(mean ? sums[0] / sums[1] : sums[0]));
    place.at<T>(1) = static_cast<T>(static_cast<Opmath<T>>(sums[1]));
  }
};

// Operands: grad_input, the target, the gradient of the row's loss, the class.
template <typename T>
struct LossBackward {
  static constexpr const char* kRefusal = kBadTarget;
  Classes<T> classes;
  const T* divisor;  // null is 1

  KEYWAY_HD bool operator()(const Place<4>& place) const {
    const std::int64_t target = place.at<const std::int64_t>(1), c = place.number(3);
    T& to = place.at<T>(0);
    to = T(0.0f);
    if (c == target && target != classes.ignored) {
      const Opmath<T> over = divisor != nullptr ? opmath(*divisor) : Opmath<T>(1);
      to = static_cast<T>(-classes.weight(c) * opmath(place.at<const T>(2)) / over);
    }
    return c != 0 || classes.has(target);
  }
};

// [rows, classes], of one row or of many.
TensorBase with_rows(const TensorBase& self) {
  if (self.dim() == 2) return self;
  return make_view(self, {1, self.sizes()[0]}, {0, self.strides()[0]}, self.storage_offset());
}
// [n, 1], of a number for each row; [1, 1], of one for all of them.
TensorBase as_column(const TensorBase& tensor) {
  const std::int64_t step = tensor.dim() == 0 ? 0 : tensor.strides()[0];
  return make_view(tensor, {tensor.numel(), 1}, {step, 0}, tensor.storage_offset());
}

template <typename T>
void forward(const TensorBase& self, const TensorBase& target, const Classes<T>& classes, bool mean,
             const TensorBase& output, const TensorBase& total_weight) {
  const std::int64_t rows = target.numel();
  const TensorBase terms = make_tensor({2, rows}, kDouble, self.device());
  if (rows > 0) {
    const TensorBase first = make_view(terms, {rows, 1}, {1, 1}, 0);
    each<3>(Places(first.sizes()).tensor(first).tensor(target).line(self, 1).space(),
            TermsOfRow<T>{classes, self.strides()[1], rows}, self.device());
  }
  const TensorBase sums = make_tensor({2, 1}, kDouble, self.device());
  reduce(Sum<double>{}, sums, terms, {1});
  const TensorBase sum = make_view(sums, {}, {}, 0);
  each<3>(Places(output.sizes()).tensor(output).tensor(total_weight).tensor(sum).space(), LossOfSums<T>{mean},
          self.device());
}

// For each row.
template <typename T>
void forward_rows(const TensorBase& self, const TensorBase& target, const Classes<T>& classes,
                  const TensorBase& output) {
  if (target.numel() == 0) return;
  const TensorBase out = as_column(output);
  each<3>(Places(out.sizes()).tensor(out).tensor(target).line(self, 1).space(),
          LossOfRow<T>{classes, self.strides()[1]}, self.device());
}

template <typename T>
const T* data_or_null(const TensorBase& tensor) {
  return tensor.defined() ? static_cast<const T*>(tensor.data_ptr()) : nullptr;
}

}  // namespace

void nll_loss_forward(const TensorBase& self, const TensorBase& target, const TensorBase& weight,
                      std::int64_t reduction, std::int64_t ignore_index, TensorBase& output, TensorBase& total_weight) {
  const TensorBase from = with_rows(self), targets = as_column(contiguous_as(target, kLong));
  const TensorBase weights = contiguous(weight);
  visit_floating(self.dtype(), "nll_loss_forward", [&]<typename T>() {
    const Classes<T> classes{data_or_null<T>(weights), from.sizes()[1], ignore_index};
    if (output.dim() == 0)
      return forward<T>(from, targets, classes, reduction == Reduction::Mean, output, total_weight);
    forward_rows<T>(from, targets, classes, output);
    fill_with_zeros(total_weight);
  });
}

void nll_loss_backward(const TensorBase& grad_output, const TensorBase& self, const TensorBase& target,
                       const TensorBase& weight, std::int64_t reduction, std::int64_t ignore_index,
                       const TensorBase& total_weight, TensorBase& grad_input) {
  if (self.numel() == 0) return;
  const TensorBase to = with_rows(grad_input), targets = as_column(contiguous_as(target, kLong));
  const TensorBase grad = as_column(grad_output), weights = contiguous(weight);
  const Strided space = Places(to.sizes()).tensor(to).tensor(targets).tensor(grad).coordinate(1).space();
  visit_floating(self.dtype(), "nll_loss_backward", [&]<typename T>() {
    const Classes<T> classes{data_or_null<T>(weights), to.sizes()[1], ignore_index};
    const T* const divisor = reduction == Reduction::Mean ? data_or_null<T>(total_weight) : nullptr;
    each<4>(space, LossBackward<T>{classes, divisor}, self.device());
  });
}

}  // namespace keyway::inline v1::cuda
