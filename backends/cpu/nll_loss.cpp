// nll_loss: of each row of log-probabilities the negative of the one that its target names, times the weight
// of that class. A row whose target is `ignore_index` counts for nothing.
#include <keyway/backends/cpu/kernels_loss.h>
#include <keyway/backends/cpu/losses.h>
#include <keyway/backends/cpu/parallel.h>
#include <keyway/core/dtype/visit_dtype.h>

namespace keyway::inline v1::cpu {

void nll_loss_forward(const TensorBase& self, const TensorBase& target, const TensorBase& weight,
                      std::int64_t reduction, std::int64_t ignore_index, TensorBase& output, TensorBase& total_weight) {
  const TargetRows rows(self, target, ignore_index);
  visit_floating(self.dtype(), "nll_loss_forward", [&]<typename T>() {
    const T* const x = static_cast<const T*>(self.data_ptr());
    write_losses<T>([&](std::int64_t i) { return opmath(x[rows.offset(i)]); }, rows, ClassWeights<T>(weight), reduction,
                    output, total_weight);
  });
}

void nll_loss_backward(const TensorBase& grad_output, const TensorBase& self, const TensorBase& target,
                       const TensorBase& weight, std::int64_t reduction, std::int64_t ignore_index,
                       const TensorBase& total_weight, TensorBase& grad_input) {
  const TargetRows rows(self, target, ignore_index);
  visit_floating(self.dtype(), "nll_loss_backward", [&]<typename T>() {
    const ClassWeights<T> weights(weight);
    const LossGradients<T> gradients(grad_output, reduction, total_weight);
    const ContiguousOut out(grad_input);
    T* const to = out.data<T>();
    parallel_for(0, rows.count, kElementGrain / (rows.classes + 1) + 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        T* const row = to + i * rows.classes;
        for (std::int64_t c = 0; c < rows.classes; ++c) row[c] = T(0.0f);
        if (rows.counts(i)) row[rows.target[i]] = static_cast<T>(-weights(rows.target[i]) * gradients(i));
      }
    });
    out.finish();
  });
}

}  // namespace keyway::inline v1::cpu
