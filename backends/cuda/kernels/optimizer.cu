// Steps of optimizers, and what they count them with.
#include <keyway/backends/cuda/driver/foreach.cuh>
#include <keyway/backends/cuda/kernels/copy_elements.h>
#include <keyway/backends/cuda/kernels/kernels_optimizer.h>
#include <keyway/core/dtype/visit_dtype.h>
#include <keyway/ops/functors/optimizer.h>

#include <algorithm>
#include <vector>

namespace keyway::inline v1::cuda {

namespace {

// Null for an absent tensor.
const float* number_of(const TensorBase& tensor) {
  return tensor.defined() ? static_cast<const float*>(tensor.data_ptr()) : nullptr;
}

LossScaling loss_scaling(const TensorBase& grad_scale, const TensorBase& found_inf) {
  return {number_of(grad_scale), number_of(found_inf)};
}

// `greatest` is empty without amsgrad.
void adam_step(const AdamSettings& settings, const ForeachLists& lists, ArrayRef<TensorBase> steps,
               LossScaling scaling) {
  visit_floating(lists.dtype(), "Adam",
                 [&]<typename T>() { over_lists(FusedAdam<T>(settings, scaling), lists, steps); });
}

void add_to_all(ArrayRef<TensorBase> tensors, const Scalar& scalar) {
  const ForeachLists lists({{tensors}}, copy_elements);
  visit_dtype<kNumberTypes>(lists.dtype(), "_foreach_add_", [&]<typename T>() {
    using Math = Opmath<T>;
    over_lists(ForeachAdd<T>{{scalar.to<Math>(), Math(1)}}, lists, {});
  });
}

}  // namespace

void _foreach_add__Scalar(ArrayRef<TensorBase> self, const Scalar& scalar) {
  check_converts(scalar, self);
  // One launch has tensors of one dtype.
  std::vector<TensorBase> rest = self.vec();
  while (!rest.empty()) {
    const ScalarType dtype = rest.front().dtype();
    const auto others =
        std::stable_partition(rest.begin(), rest.end(), [&](const auto& t) { return t.dtype() == dtype; });
    const auto count = static_cast<std::size_t>(others - rest.begin());
    add_to_all({rest.data(), count}, scalar);
    rest.erase(rest.begin(), others);
  }
}

void _fused_adam_(ArrayRef<TensorBase> self, ArrayRef<TensorBase> grads, ArrayRef<TensorBase> exp_avgs,
                  ArrayRef<TensorBase> exp_avg_sqs, ArrayRef<TensorBase> max_exp_avg_sqs,
                  ArrayRef<TensorBase> state_steps, double lr, double beta1, double beta2, double weight_decay,
                  double eps, bool amsgrad, bool maximize, const TensorBase& grad_scale, const TensorBase& found_inf) {
  const ArrayRef<TensorBase> greatest = amsgrad ? max_exp_avg_sqs : ArrayRef<TensorBase>();
  adam_step({lr, beta1, beta2, weight_decay, eps, amsgrad, maximize, false},
            ForeachLists({{self}, {grads, grad_scale.defined()}, {exp_avgs}, {exp_avg_sqs}, {greatest}}, copy_elements),
            state_steps, loss_scaling(grad_scale, found_inf));
}

void _fused_adamw_(ArrayRef<TensorBase> self, ArrayRef<TensorBase> grads, ArrayRef<TensorBase> exp_avgs,
                   ArrayRef<TensorBase> exp_avg_sqs, ArrayRef<TensorBase> max_exp_avg_sqs,
                   ArrayRef<TensorBase> state_steps, double lr, double beta1, double beta2, double weight_decay,
                   double eps, bool amsgrad, bool maximize, const TensorBase& grad_scale, const TensorBase& found_inf) {
  const ArrayRef<TensorBase> greatest = amsgrad ? max_exp_avg_sqs : ArrayRef<TensorBase>();
  adam_step({lr, beta1, beta2, weight_decay, eps, amsgrad, maximize, true},
            ForeachLists({{self}, {grads, grad_scale.defined()}, {exp_avgs}, {exp_avg_sqs}, {greatest}}, copy_elements),
            state_steps, loss_scaling(grad_scale, found_inf));
}

void _fused_sgd_(ArrayRef<TensorBase> self, ArrayRef<TensorBase> grads, ArrayRef<TensorBase> momentum_buffer_list,
                 double weight_decay, double momentum, double lr, double dampening, bool nesterov, bool maximize,
                 bool is_first_step, const TensorBase& grad_scale, const TensorBase& found_inf) {
  const ArrayRef<TensorBase> buffers = momentum != 0 ? momentum_buffer_list : ArrayRef<TensorBase>();
  const ForeachLists lists({{self}, {grads, grad_scale.defined()}, {buffers}}, copy_elements);
  const SgdSettings settings{lr, momentum, dampening, weight_decay, nesterov, maximize, is_first_step};
  visit_floating(lists.dtype(), "SGD", [&]<typename T>() {
    over_lists(FusedSgd<T>(settings, loss_scaling(grad_scale, found_inf)), lists, {});
  });
}

}  // namespace keyway::inline v1::cuda
