#include <keyway/autograd/accumulate_grad.h>
#include <keyway/autograd/variable.h>
#include <keyway/ops/all.h>

#include <limits>

namespace keyway::inline v1::autograd {

namespace {
// Whether `grad` is the only way to its memory: then nobody can change it later. What it is a view of does not count
// while nothing but the view holds that.
bool is_sole_owner(const Tensor& grad) {
  const Tensor base = view_base(grad);
  const bool base_is_free = !base.defined() || base.use_count() == 2;  // the view's, and `base`
  return grad.use_count() == 1 && base_is_free && grad.storage().impl()->use_count() == (base.defined() ? 2 : 1);
}
}  // namespace

void accumulate_grad(const TensorBase& variable, Tensor fresh) {
  Tensor grad = grad_of(variable);
  if (grad.defined() && !grad_enabled()) {
    grad.add_(fresh);
  } else if (grad.defined()) {
    set_grad(variable, grad + fresh);
  } else if (grad_enabled()) {
    set_grad(variable, fresh.clone());
  } else if (fresh.is_contiguous() && is_sole_owner(fresh)) {
    set_grad(variable, Tensor(make_view(fresh, fresh.sizes(), fresh.strides(), fresh.storage_offset())));
  } else {
    set_grad(variable, fresh.detach().clone());
  }
}

// First in the queue once all gradients of the leaf are there, so that they take no room for long.
AccumulateGrad::AccumulateGrad(Tensor leaf) : Node(std::numeric_limits<std::uint64_t>::max()), leaf_(std::move(leaf)) {
  add_output(leaf_);
}

void AccumulateGrad::run_pre_hooks(variable_list& grads) {
  run_hooks(leaf_, grads[0]);
  Node::run_pre_hooks(grads);
}

variable_list AccumulateGrad::apply(variable_list&& grads) {
  if (grads[0].defined() && leaf_.requires_grad()) accumulate_grad(leaf_, std::move(grads[0]));
  return {};
}

}  // namespace keyway::inline v1::autograd
