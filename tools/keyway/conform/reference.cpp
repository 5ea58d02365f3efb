#include <keyway/dispatch/registry/observer.h>
#include <keyway/tools/keyway/conform/reference.h>
#include <keyway/tools/keyway/fuzz/results.h>

#include <utility>

namespace keyway::inline v1::tools {

namespace {

class CpuReference final : public Reference {
 public:
  explicit CpuReference(ConformOperator op) : op_(std::move(op)) {}
  ConformCall call(Stack arguments) const override { return op_.call(std::move(arguments), DeviceType::CPU); }
  std::vector<Tensor> gradients(const ConformCall& call) const override { return gradients_of(call); }

 private:
  ConformOperator op_;
};

class EarlierReference final : public Reference {
 public:
  EarlierReference(ConformOperator op, std::shared_ptr<EarlierKernels> kernels)
      : op_(std::move(op)), kernels_(std::move(kernels)) {}
  ConformCall call(Stack arguments) const override {
    const EarlierKernels::Scope scope(*kernels_);
    return op_.call(std::move(arguments), DeviceType::CPU);
  }
  std::vector<Tensor> gradients(const ConformCall& call) const override {
    const EarlierKernels::Scope scope(*kernels_);
    return gradients_of(call);
  }

 private:
  ConformOperator op_;
  std::shared_ptr<EarlierKernels> kernels_;
};

}  // namespace

std::unique_ptr<Reference> make_cpu_reference(const ConformOperator& op) { return std::make_unique<CpuReference>(op); }

std::unique_ptr<Reference> make_earlier_reference(const ConformOperator& op, std::shared_ptr<EarlierKernels> kernels) {
  return std::make_unique<EarlierReference>(op, std::move(kernels));
}

Tensor weighted_sum(const std::vector<TensorBase>& results) {
  constexpr std::int64_t kCount = 61;
  Tensor total;
  for (const TensorBase& result : results) {
    if (!is_floating_point(result.dtype()) && !is_complex(result.dtype())) continue;
    const Tensor root(result);
    const Tensor real = is_complex(root.dtype()) ? view_as_real(root) : root;
    const ScalarType wide = real.dtype() == kDouble ? kDouble : kFloat;
    const Tensor numbers = arange(0, real.numel(), kDouble);
    const Tensor weights = (remainder(numbers * 23, kCount) / kCount + 0.5).to(wide).to(real.device());
    const Tensor sum = (real.to(wide) * weights.view(real.sizes())).sum();
    total = total.defined() ? total + sum.to(total.dtype()) : sum;
  }
  return total;
}

std::vector<Tensor> gradients_of(const ConformCall& call) {
  std::vector<TensorBase> recorded;
  for (const TensorBase& result : tensors_of(call.results)) {
    if (result.requires_grad() && !result.is_leaf()) recorded.push_back(result);
  }
  std::vector<Tensor> gradients;
  const Tensor total = weighted_sum(recorded);
  if (!total.defined()) return gradients;
  total.backward();
  for (const TensorBase& argument : tensors_of(call.arguments)) {
    if (argument.requires_grad() && argument.is_leaf()) gradients.push_back(Tensor(argument).grad());
  }
  return gradients;
}

}  // namespace keyway::inline v1::tools
