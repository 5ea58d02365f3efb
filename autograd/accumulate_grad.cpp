#include <keyway/autograd/accumulate_grad.h>
#include <keyway/autograd/variable.h>
#include <keyway/ops/all.h>

#include <limits>

namespace keyway::inline v1::autograd {

// Leaves come last: gradients are complete when they are stored.
AccumulateGrad::AccumulateGrad(Tensor leaf) : Node(std::numeric_limits<std::uint64_t>::max()), leaf_(std::move(leaf)) {
  add_output(leaf_);
}

void AccumulateGrad::run_pre_hooks(variable_list& grads) {
  run_hooks(leaf_, grads[0]);
  Node::run_pre_hooks(grads);
}

variable_list AccumulateGrad::apply(variable_list&& grads) {
  Tensor fresh = std::move(grads[0]);
  if (!fresh.defined() || !leaf_.requires_grad()) return {};
  Tensor grad = grad_of(leaf_);
  if (!grad.defined()) {
    // A gradient that nobody else holds is kept as it is; any other may be changed later by its other
    // holders.
    const bool ours = fresh.use_count() == 1 && fresh.storage().impl()->use_count() == 1 && fresh.is_contiguous();
    set_grad(leaf_, ours && !grad_enabled() ? fresh.detach() : grad_enabled() ? fresh.clone() : fresh.detach().clone());
  } else if (grad_enabled()) {
    set_grad(leaf_, grad + fresh);
  } else {
    grad.add_(fresh);
  }
  return {};
}

}  // namespace keyway::inline v1::autograd
