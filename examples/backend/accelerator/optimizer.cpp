// One step of AdamW for many parameters, which Keyway's optimizers use where a device has it.
#include <keyway/ops/functors/optimizer.h>

#include <accelerator/kernels.h>

namespace accelerator {

using namespace keyway;

namespace {

void fused_adamw(ArrayRef<TensorBase> self, ArrayRef<TensorBase> grads, ArrayRef<TensorBase> means,
                 ArrayRef<TensorBase> squares, ArrayRef<TensorBase> greatest, ArrayRef<TensorBase> steps, double lr,
                 double beta1, double beta2, double weight_decay, double eps, bool amsgrad, bool maximize,
                 const TensorBase& grad_scale, const TensorBase& found_inf) {
  const AdamSettings settings{lr, beta1, beta2, weight_decay, eps, amsgrad, maximize, true};
  using Number = Elements<const float>;
  visit<kFloats>(self[0].dtype(), [&]<typename T>() {
    const auto body = [=](Elements<T> parameter, Elements<T> grad, Elements<T> mean, Elements<T> square,
                          Elements<T> top, Number step, Number scale, Number inf) {
      const auto address = [](Number number) { return number.size() == 0 ? nullptr : &number[0]; };
      const FusedAdam<T> adam(settings, LossScaling{address(scale), address(inf)});
      if (adam.skips()) return;
      const auto prepared = adam.prepare(&step[0]);
      for (std::int64_t i = 0; i < parameter.size(); ++i) {
        T none{};
        adam(prepared, parameter[i], grad[i], mean[i], square[i], amsgrad ? top[i] : none);
      }
    };
    for (std::size_t i = 0; i < self.size(); ++i) {
      whole<T, T, T, T, T, const float, const float, const float>(body, self[i], grads[i], means[i], squares[i],
                                                                  amsgrad ? greatest[i] : TensorBase(), steps[i],
                                                                  grad_scale, found_inf);
    }
  });
}

// Counts the steps.
void foreach_add(ArrayRef<TensorBase> self, const Scalar& scalar) {
  visit<kFloats>(self[0].dtype(), [&]<typename T>() {
    for (const TensorBase& tensor : self) {
      accept_if(tensor.dtype() == self[0].dtype(), "the accelerator adds to tensors of one dtype");
    }
    for (const TensorBase& tensor : self) {
      pointwise(AddScalar<T>{scalar.to<Opmath<T>>(), Opmath<T>(1)}, tensor, tensor);
    }
  });
}

}  // namespace

void register_optimizer(Library& m) {
  serve(m, "_fused_adamw_", fused_adamw);
  serve(m, "_foreach_add_.Scalar", foreach_add);
}

}  // namespace accelerator
