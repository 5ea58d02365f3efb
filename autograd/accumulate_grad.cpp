#include <keyway/autograd/accumulate_grad.h>
#include <keyway/autograd/alias.h>
#include <keyway/autograd/backward_streams.h>
#include <keyway/autograd/engine.h>
#include <keyway/autograd/variable.h>
#include <keyway/core/tensor/geometry.h>
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

// Whether `grad` lies in memory as a gradient of `leaf` is to: like the leaf if its elements fill their memory, else in
// row-major order.
bool is_laid_for(const Tensor& leaf, const Tensor& grad) {
  if (leaf.is_contiguous() || !leaf.is_non_overlapping_and_dense()) return grad.is_contiguous();
  return grad.strides() == leaf.strides();
}
Tensor copy_for(const Tensor& leaf, const Tensor& grad) {
  if (grad.key_set().has(Functionality::Python)) return grad.clone();  // of the class that the gradient has
  const DimVector strides =
      leaf.is_non_overlapping_and_dense() ? DimVector(leaf.strides()) : contiguous_strides(leaf.sizes());
  return keyway::empty_strided(leaf.sizes(), strides, grad.options()).copy_(grad);
}
}  // namespace

// First in the queue once all gradients of the leaf are there, so that they take no room for long.
AccumulateGrad::AccumulateGrad(Tensor leaf) : Node(std::numeric_limits<std::uint64_t>::max()), leaf_(std::move(leaf)) {
  add_input_metadata(leaf_);
  forget_stream();
}

AccumulateGrad::AccumulateGrad(Tensor leaf, NodeOrigin&& origin) : AccumulateGrad(std::move(leaf)) {
  set_origin(std::move(origin));
}

void AccumulateGrad::run_tensor_hooks(variable_list& grads) {
  run_leaf_hooks(leaf_, grads[0]);
  Node::run_tensor_hooks(grads);
}

variable_list AccumulateGrad::apply(variable_list&& grads) {
  Tensor fresh = std::move(grads[0]);
  if (!fresh.defined() || !leaf_.requires_grad()) return {};
  KEYWAY_CHECK_AS(Autograd, !fresh.key_set().has(Functionality::Batched),
                  "within vmap a leaf cannot accumulate the gradients of its examples: use grad()");
  Tensor grad = grad_of(leaf_);
  // Backwards of other threads may have added to it in streams that nobody else orders with this one.
  if (!leaf_.device().is_cpu()) [[unlikely]]
    wait_for_last_writer(last_accumulation_stream(leaf_), grad.defined() ? grad : fresh);
  const bool shared = backward_uses_other_streams();
  if (shared) record_use_for_caller(grad);
  if (!grad.defined()) {
    if (!grad_enabled() && is_laid_for(leaf_, fresh) && is_sole_owner(fresh)) {
      set_grad(leaf_, Tensor(alias_of(fresh)));
    } else {
      set_grad(leaf_, copy_for(leaf_, grad_enabled() ? fresh : fresh.detach()));
    }
  } else if (grad_enabled()) {
    set_grad(leaf_, grad + fresh);
  } else {
    grad.add_(fresh);
  }
  if (shared) record_use_for_caller(grad_of(leaf_));
  run_post_accumulate_hooks(leaf_);
  return {};
}

}  // namespace keyway::inline v1::autograd
