// nll_loss: of each row of log-probabilities the negative of the one that its target names, times the weight
// of that class. A row whose target is `ignore_index` counts for nothing.
#include <keyway/backends/cpu/contiguous.h>
#include <keyway/backends/cpu/kernels_loss.h>
#include <keyway/backends/cpu/parallel.h>
#include <keyway/core/base/error.h>
#include <keyway/core/visit_dtype.h>
#include <keyway/ops/functors/opmath.h>

namespace keyway::inline v1 {

namespace {

// As in at::Reduction.
constexpr std::int64_t kNone = 0, kMean = 1;

// Rows of log-probabilities and their targets.
struct Rows {
  TensorBase target_list;
  const std::int64_t* target;
  std::int64_t count;
  std::int64_t classes;
  std::int64_t row_stride, class_stride;  // of the log-probabilities, in elements
  std::int64_t ignored;

  // Tests every target: nothing is written before.
  Rows(const TensorBase& self, const TensorBase& targets, std::int64_t ignore_index)
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
  std::int64_t place(std::int64_t i) const { return i * row_stride + target[i] * class_stride; }
};

// The weight of a class; 1 without weights.
template <typename T>
struct Weights {
  TensorBase list;
  const T* data;

  explicit Weights(const TensorBase& weight)
      : list(contiguous(weight)), data(list.defined() ? static_cast<const T*>(list.data_ptr()) : nullptr) {}
  Opmath<T> operator()(std::int64_t c) const { return data != nullptr ? opmath(data[c]) : Opmath<T>(1); }
};

template <typename T>
void forward(const TensorBase& self, const Rows& rows, const Weights<T>& weights, std::int64_t reduction,
             const TensorBase& output, const TensorBase& total_weight) {
  const T* const x = static_cast<const T*>(self.data_ptr());
  T& total = *static_cast<T*>(total_weight.data_ptr());
  if (reduction == kNone && self.dim() == 2) {
    const ContiguousOut out(output);
    T* const to = out.data<T>();
    for (std::int64_t i = 0; i < rows.count; ++i) {
      to[i] = rows.counts(i) ? static_cast<T>(-opmath(x[rows.place(i)]) * weights(rows.target[i])) : T(0.0f);
    }
    out.finish();
    total = T(0.0f);
    return;
  }
  double loss = 0, weight = 0;
  for (std::int64_t i = 0; i < rows.count; ++i) {
    if (!rows.counts(i)) continue;
    const auto w = static_cast<double>(weights(rows.target[i]));
    loss -= static_cast<double>(opmath(x[rows.place(i)])) * w;
    weight += w;
  }
  total = static_cast<T>(static_cast<Opmath<T>>(weight));
  *static_cast<T*>(output.data_ptr()) =
      static_cast<T>(static_cast<Opmath<T>>(reduction == kMean ? loss / weight : loss));
}

template <typename T>
void backward(const TensorBase& grad_output, const Rows& rows, const Weights<T>& weights, std::int64_t reduction,
              const TensorBase& total_weight, const TensorBase& grad_input) {
  const ContiguousOut out(grad_input);
  T* const to = out.data<T>();
  const T* const g = static_cast<const T*>(grad_output.data_ptr());
  // A gradient of one element is that of all rows.
  const std::int64_t step = grad_output.numel() > 1 ? grad_output.strides()[0] : 0;
  const Opmath<T> divisor = reduction == kMean ? opmath(*static_cast<const T*>(total_weight.data_ptr())) : Opmath<T>(1);
  parallel_for(0, rows.count, 32768 / (rows.classes + 1) + 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      T* const row = to + i * rows.classes;
      for (std::int64_t c = 0; c < rows.classes; ++c) row[c] = T(0.0f);
      if (!rows.counts(i)) continue;
      row[rows.target[i]] = static_cast<T>(-weights(rows.target[i]) * opmath(g[i * step]) / divisor);
    }
  });
  out.finish();
}

}  // namespace

namespace cpu {

void nll_loss_forward(const TensorBase& self, const TensorBase& target, const TensorBase& weight,
                      std::int64_t reduction, std::int64_t ignore_index, TensorBase& output, TensorBase& total_weight) {
  const Rows rows(self, target, ignore_index);
  visit_floating(self.dtype(), "nll_loss_forward",
                 [&]<typename T>() { forward<T>(self, rows, Weights<T>(weight), reduction, output, total_weight); });
}

void nll_loss_backward(const TensorBase& grad_output, const TensorBase& self, const TensorBase& target,
                       const TensorBase& weight, std::int64_t reduction, std::int64_t ignore_index,
                       const TensorBase& total_weight, TensorBase& grad_input) {
  const Rows rows(self, target, ignore_index);
  visit_floating(self.dtype(), "nll_loss_backward", [&]<typename T>() {
    backward<T>(grad_output, rows, Weights<T>(weight), reduction, total_weight, grad_input);
  });
}

}  // namespace cpu

}  // namespace keyway::inline v1
