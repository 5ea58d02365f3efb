// Cross entropy of rows of logits and the classes they are of: log-probabilities, and the gradient of each, are never
// in memory. Of a row two numbers are kept, `normalizer`: its greatest element, and the logarithm of the sum of
// exp(x - greatest); log_softmax(x) is x - greatest - logarithm.
#include <keyway/backends/cpu/decaying_exp.h>
#include <keyway/backends/cpu/kernels_loss.h>
#include <keyway/backends/cpu/lanes.h>
#include <keyway/backends/cpu/losses.h>
#include <keyway/backends/cpu/scratch.h>
#include <keyway/backends/cpu/wide_rows.h>
#include <keyway/core/dtype/visit_dtype.h>

#include <cmath>

namespace keyway::inline v1 {

namespace {

// Of logits, which are the input.
template <typename T>
struct NormalizerRows {
  using Acc = T;
  static constexpr std::size_t kInputs = 1;
  Acc* normalizer;
  std::int64_t width;
  const Acc* input[kInputs] = {};
  std::int64_t first = 0, begin = 0, end = 0;

  [[gnu::always_inline]] void row(std::int64_t r) const {
    const Acc* const x = input[0] + (r - first) * width;
    const Acc top = lane_max<Acc>(width, [x](std::int64_t i) { return x[i]; });
    normalizer[2 * r] = top;
    normalizer[2 * r + 1] =
        std::log(lane_sum<Acc>(width, [x, top](std::int64_t i) { return decaying_exp(x[i] - top); }));
  }
};

// With g' = weight g, g the gradient of the row's loss, that of the row is g' (softmax(x) - 1 at the target).
template <typename T>
struct CrossEntropyGradients {
  using Acc = T;
  static constexpr std::size_t kInputs = 1;
  const Acc* normalizer;
  const Acc* scale;  // g' of each row
  const TargetRows* rows;
  std::int64_t width;
  const Acc* input[kInputs] = {};
  Acc* out = nullptr;
  std::int64_t first = 0, begin = 0, end = 0;

  [[gnu::always_inline]] void row(std::int64_t r) const {
    const Acc* const x = input[0] + (r - first) * width;
    Acc* const to = out + (r - first) * width;
    if (!rows->counts(r)) {
      for (std::int64_t i = 0; i < width; ++i) to[i] = 0;
      return;
    }
    const std::int64_t target = rows->target[r];
    const Acc g = scale[r], top = normalizer[2 * r], log_sum = normalizer[2 * r + 1];
    KEYWAY_INDEPENDENT
    for (std::int64_t i = 0; i < width; ++i) to[i] = g * given_decaying_exp(x[i] - top - log_sum);
    to[target] = g * std::expm1(x[target] - top - log_sum);
  }
};

}  // namespace

namespace cpu {

void _cross_entropy_forward(const TensorBase& self, const TensorBase& target, const TensorBase& weight,
                            std::int64_t reduction, std::int64_t ignore_index, TensorBase& output,
                            TensorBase& total_weight, TensorBase& normalizer) {
  const TensorBase from = contiguous(self);
  const TargetRows rows(from, target, ignore_index);
  visit_floating(self.dtype(), "_cross_entropy_forward", [&]<typename T>() {
    const T* const x = static_cast<const T*>(from.data_ptr());
    const ContiguousOut out(normalizer);
    auto* const of = out.data<Opmath<T>>();
    run_wide_rows(NormalizerRows<Opmath<T>>{of, rows.classes}, rows.count, {from}, TensorBase());
    write_losses<T>([&](std::int64_t i) { return opmath(x[rows.offset(i)]) - of[2 * i] - of[2 * i + 1]; }, rows,
                    ClassWeights<T>(weight), reduction, output, total_weight);
    out.finish();
  });
}

void _cross_entropy_backward(const TensorBase& grad_output, const TensorBase& self, const TensorBase& target,
                             const TensorBase& weight, std::int64_t reduction, std::int64_t ignore_index,
                             const TensorBase& total_weight, const TensorBase& normalizer, TensorBase& result) {
  const TensorBase from = contiguous(self), normalizers = contiguous(normalizer);
  const TargetRows rows(from, target, ignore_index);
  visit_floating(self.dtype(), "_cross_entropy_backward", [&]<typename T>() {
    using Acc = Opmath<T>;
    const ClassWeights<T> weights(weight);
    const LossGradients<T> gradients(grad_output, reduction, total_weight);
    ScratchArray<Acc> scales(rows.count);
    for (std::int64_t i = 0; i < rows.count; ++i) {
      if (rows.counts(i)) scales[i] = weights(rows.target[i]) * gradients(i);
    }
    const ContiguousOut out(result);
    const CrossEntropyGradients<Acc> work{static_cast<const Acc*>(normalizers.data_ptr()), scales.data(), &rows,
                                          rows.classes};
    run_wide_rows(work, rows.count, {from}, out.tensor());
    out.finish();
  });
}

}  // namespace cpu

}  // namespace keyway::inline v1
