// What losses of classes share: the targets of rows, the weights of classes, and what becomes of a row's loss. Internal
// to backends/cpu.
#pragma once

#include <keyway/backends/cpu/operands.h>
#include <keyway/core/base/error.h>
#include <keyway/core/tensor/reduction.h>
#include <keyway/ops/functors/opmath.h>

#include <cstdint>

namespace keyway::inline v1 {

// Rows of numbers for each class, [rows, classes] or [classes], and their targets.
struct TargetRows {
  TensorBase target_list;
  const std::int64_t* target;
  std::int64_t count;
  std::int64_t classes;
  std::int64_t row_stride, class_stride;  // of the numbers, in elements
  std::int64_t ignored;

  // Tests every target: nothing is written before.
  TargetRows(const TensorBase& self, const TensorBase& targets, std::int64_t ignore_index)
      : target_list(contiguous_as(targets, kLong)),
        target(static_cast<const std::int64_t*>(target_list.data_ptr())),
        count(self.dim() == 1 ? 1 : self.sizes()[0]),
        classes(self.sizes().back()),
        row_stride(self.dim() == 1 ? 0 : self.strides()[0]),
        class_stride(self.strides().back()),
        ignored(ignore_index) {
    for (std::int64_t i = 0; i < count; ++i) {
      KEYWAY_CHECK_AS(Index, target[i] == ignored || (0 <= target[i] && target[i] < classes),
                      "argument 'target' has {} at position {}, but must be in [0, {}) or ignore_index, {}", target[i],
                      i, classes, ignored);
    }
  }
  bool counts(std::int64_t i) const { return target[i] != ignored; }
  std::int64_t offset(std::int64_t i) const { return i * row_stride + target[i] * class_stride; }
};

// The weight of a class; 1 without weights.
template <typename T>
struct ClassWeights {
  TensorBase list;
  const T* data;

  explicit ClassWeights(const TensorBase& weight) : list(contiguous(weight)), data(data_or_null<const T>(list)) {}
  Opmath<T> operator()(std::int64_t c) const { return data != nullptr ? opmath(data[c]) : Opmath<T>(1); }
};

// Gradients of the rows' losses: one for each, or one for all.
template <typename T>
struct LossGradients {
  const T* data;
  std::int64_t step;
  Opmath<T> divisor;

  LossGradients(const TensorBase& grad_output, std::int64_t reduction, const TensorBase& total_weight)
      : data(static_cast<const T*>(grad_output.data_ptr())),
        step(grad_output.numel() > 1 ? grad_output.strides()[0] : 0),
        divisor(reduction == Reduction::Mean ? opmath(*static_cast<const T*>(total_weight.data_ptr())) : 1) {}
  Opmath<T> operator()(std::int64_t i) const { return opmath(data[i * step]) / divisor; }
};

// Writes the losses of rows, where there is an element for each, or their sum or mean; log_probability(i) is that of
// row i's target.
template <typename T, typename F>
void write_losses(const F& log_probability, const TargetRows& rows, const ClassWeights<T>& weights,
                  std::int64_t reduction, const TensorBase& output, const TensorBase& total_weight) {
  T& total = *static_cast<T*>(total_weight.data_ptr());
  if (output.dim() == 1) {
    const ContiguousOut out(output);
    T* const to = out.data<T>();
    for (std::int64_t i = 0; i < rows.count; ++i) {
      to[i] = rows.counts(i) ? static_cast<T>(-log_probability(i) * weights(rows.target[i])) : T(0.0f);
    }
    out.finish();
    total = T(0.0f);
    return;
  }
  double loss = 0, weight = 0;
  for (std::int64_t i = 0; i < rows.count; ++i) {
    if (!rows.counts(i)) continue;
    const auto w = static_cast<double>(weights(rows.target[i]));
    loss -= static_cast<double>(log_probability(i)) * w;
    weight += w;
  }
  total = static_cast<T>(static_cast<Opmath<T>>(weight));
  const double result = reduction == Reduction::Mean ? loss / weight : loss;
  *static_cast<T*>(output.data_ptr()) = static_cast<T>(static_cast<Opmath<T>>(result));
}

}  // namespace keyway::inline v1
