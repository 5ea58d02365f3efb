#include <keyway/dispatch/call/boxed_tensors.h>
#include <keyway/tools/keyway/conform/functional_reference.h>
#include <keyway/tools/keyway/fuzz/functional_form.h>
#include <keyway/tools/keyway/fuzz/results.h>

#include <algorithm>
#include <utility>

namespace keyway::inline v1::tools {

namespace {

TensorBase plain_copy(const TensorBase& tensor, DeviceType device) {
  const NoGradGuard no_grad;
  const Tensor copy = Tensor(tensor).detach().to(Device(device)).clone(MemoryFormat::Contiguous);
  if (tensor.requires_grad()) copy.requires_grad_();
  return copy;
}

}  // namespace

FunctionalReference::FunctionalReference(const OperatorHandle& op, DeviceType device)
    : caller_(functional_form(op).value_or(op)),
      device_(device),
      is_another_form_(&caller_.handle().entry() != &op.entry()) {}

ConformCall FunctionalReference::call(Stack arguments) const {
  if (is_another_form_) arguments.resize(caller_.handle().schema().arguments().size());  // those for results stand last
  update_tensors(arguments, [&](TensorBase& tensor) { tensor = plain_copy(tensor, device_); });
  return caller_.call(std::move(arguments), device_);
}

std::vector<TensorBase> produced(const ConformOperator& op, const ConformCall& call) {
  std::vector<TensorBase> written, made;
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    if (!op.is_written(i)) continue;
    for (const TensorBase& tensor : tensors_of({call.arguments[i]})) written.push_back(tensor);
  }
  for (const TensorBase& result : tensors_of(call.results)) {
    const bool is_written =
        std::any_of(written.begin(), written.end(), [&](const TensorBase& each) { return each.is_same(result); });
    if (!is_written) made.push_back(on_cpu(result));
  }
  for (const TensorBase& tensor : written) made.push_back(on_cpu(tensor));
  return made;
}

}  // namespace keyway::inline v1::tools
