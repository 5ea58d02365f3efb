// What losses of classes share: the targets of rows, the weights of classes, and what becomes of a row's loss. Internal
// to backends/cuda.
//
// A row of the loss is one access to memory somewhere, so latency bounds it, and there are many at once. Sums are those
// of the reduction's driver, over terms in double.
#pragma once

#include <keyway/backends/cuda/driver/each.cuh>
#include <keyway/backends/cuda/driver/reduction.cuh>
#include <keyway/backends/cuda/kernels/operands.h>
#include <keyway/backends/cuda/kernels/zeros.h>
#include <keyway/core/tensor/reduction.h>
#include <keyway/ops/functors/opmath.h>

namespace keyway::inline v1::cuda {

inline constexpr const char* kBadTarget = "argument 'target' has an element that is neither a class nor ignore_index";

// The classes, and what is known of them. Weights are null where each is 1.
template <typename T>
struct Classes {
  const T* weights;
  std::int64_t count, ignored;

  KEYWAY_HD bool has(std::int64_t target) const { return target == ignored || (0 <= target && target < count); }
  KEYWAY_HD Opmath<T> weight(std::int64_t c) const { return weights != nullptr ? opmath(weights[c]) : Opmath<T>(1); }
};

// The log-probability of a row's target. Operand 2: the first of the row's.
template <typename T>
struct GivenLog {
  static constexpr int kOperands = 3;
  std::int64_t stride;  // from class to class

  KEYWAY_HD Opmath<T> operator()(const Element<3>& element, std::int64_t target) const {
    return opmath((&element.at<const T>(2))[target * stride]);
  }
};

// Of logits. Operand 3: the row's normalizer (top_and_sum.cuh), two numbers.
template <typename T>
struct NormalizedLog {
  static constexpr int kOperands = 4;
  std::int64_t stride;

  KEYWAY_HD Opmath<T> operator()(const Element<4>& element, std::int64_t target) const {
    const Opmath<T>* const normalizer = &element.at<const Opmath<T>>(3);
    return opmath((&element.at<const T>(2))[target * stride]) - normalizer[0] - normalizer[1];
  }
};

// Operands: the loss of a row, its target, and those of Log.
template <typename T, typename Log>
struct LossOfRow {
  static constexpr const char* kElementError = kBadTarget;
  Classes<T> classes;
  Log log_probability;

  KEYWAY_HD bool operator()(const Element<Log::kOperands>& element) const {
    const std::int64_t target = element.template at<const std::int64_t>(1);
    if (!classes.has(target)) return false;
    const bool counts = target != classes.ignored;
    element.template at<T>(0) =
        counts ? static_cast<T>(-log_probability(element, target) * classes.weight(target)) : T(0.0f);
    return true;
  }
};

// What a row adds to the loss, and to the total weight. Operands: the first of both, the target, and those of Log.
template <typename T, typename Log>
struct TermsOfRow {
  static constexpr const char* kElementError = kBadTarget;
  Classes<T> classes;
  Log log_probability;
  std::int64_t apart;  // elements from what is added to the loss to what is added to the weight

  KEYWAY_HD bool operator()(const Element<Log::kOperands>& element) const {
    const std::int64_t target = element.template at<const std::int64_t>(1);
    double weight = 0, loss = 0;
    const bool known = classes.has(target);
    if (known && target != classes.ignored) {
      weight = static_cast<double>(classes.weight(target));
      loss = -(static_cast<double>(log_probability(element, target)) * weight);
    }
    double* const terms = &element.template at<double>(0);
    terms[0] = loss;
    terms[apart] = weight;
    return known;
  }
};

// Operands: the loss, the total weight, and the two sums.
template <typename T>
struct LossOfSums {
  bool mean;

  KEYWAY_HD void operator()(const Element<3>& element) const {
    const double* const sums = &element.at<const double>(2);
    element.at<T>(0) = static_cast<T>(static_cast<Opmath<T>>(mean ? sums[0] / sums[1] : sums[0]));
    element.at<T>(1) = static_cast<T>(static_cast<Opmath<T>>(sums[1]));
  }
};

// [rows, classes], of one row or of many.
inline TensorBase with_rows(const TensorBase& self) {
  if (self.dim() == 2) return self;
  return make_view(self, {1, self.sizes()[0]}, {0, self.strides()[0]}, self.storage_offset());
}
// [n, 1], of a number for each row; [1, 1], of one for all of them.
inline TensorBase as_column(const TensorBase& tensor) {
  const std::int64_t step = tensor.dim() == 0 ? 0 : tensor.strides()[0];
  return make_view(tensor, {tensor.numel(), 1}, {step, 0}, tensor.storage_offset());
}

// Writes the losses of rows, where there is an element for each, or their sum or mean. `targets` is a column,
// `normalizers` one of pairs for NormalizedLog, else undefined.
template <typename T, typename Log>
void write_losses(const Log& log, const TensorBase& self, const TensorBase& targets, const TensorBase& normalizers,
                  const Classes<T>& classes, bool mean, const TensorBase& output, const TensorBase& total_weight) {
  const std::int64_t count = targets.numel();
  const auto rows = [&](const TensorBase& first) {
    ElementSpace elements(first.sizes());
    elements.tensor(first).tensor(targets).line(self, 1);
    if constexpr (Log::kOperands == 4) elements.tensor(normalizers);
    return elements.space();
  };
  if (output.dim() == 1) {
    fill_with_zeros(total_weight);
    if (count > 0) each<Log::kOperands>(rows(as_column(output)), LossOfRow<T, Log>{classes, log}, self.device());
    return;
  }
  const TensorBase terms = make_tensor({2, count}, kDouble, self.device());
  if (count > 0) {
    const TensorBase first = make_view(terms, {count, 1}, {1, 1}, 0);
    each<Log::kOperands>(rows(first), TermsOfRow<T, Log>{classes, log, count}, self.device());
  }
  const TensorBase sums = make_tensor({2, 1}, kDouble, self.device());
  reduce(Sum<double>{}, sums, terms, {1});
  const TensorBase sum = make_view(sums, {}, {}, 0);
  each<3>(ElementSpace(output.sizes()).tensor(output).tensor(total_weight).tensor(sum).space(), LossOfSums<T>{mean},
          self.device());
}

}  // namespace keyway::inline v1::cuda
