// The operators of the family autograd: what tensors offer of gradients, as methods.
#include <keyway/autograd/alias.h>
#include <keyway/autograd/engine.h>
#include <keyway/autograd/variable.h>
#include <keyway/ops/all.h>
#include <keyway/ops/autograd_composites.h>

namespace keyway::inline v1::composite {

void backward(const Tensor& self, ArrayRef<Tensor> inputs, const std::optional<Tensor>& gradient,
              std::optional<bool> retain_graph, bool create_graph) {
  autograd::backward({self}, gradient ? std::vector<Tensor>{*gradient} : std::vector<Tensor>{},
                     retain_graph.value_or(create_graph), create_graph, inputs.vec());
}

// The storage is shared, and with it its version: a change of what backward needs is noticed, where PyTorch is wrong in
// silence.
Tensor data(const Tensor& self) { return Tensor(autograd::alias_of(self)); }

Tensor& detach_(Tensor& self) {
  autograd::detach_in_place(self);
  return self;
}

Tensor& requires_grad_(Tensor& self, bool requires_grad) {
  autograd::set_requires_grad(self, requires_grad);
  return self;
}

void retain_grad(Tensor& self) { autograd::retain_grad(self); }
bool retains_grad(const Tensor& self) { return autograd::retains_grad(self); }

void set_data(Tensor& self, const Tensor& new_data) {
  KEYWAY_CHECK_AS(NotImplemented,
                  !self.key_set().has(Functionality::Batched) && !new_data.key_set().has(Functionality::Batched),
                  "vmap: the tensor of an example cannot be given other memory");
  KEYWAY_CHECK_AS(Autograd, !autograd::is_view(self), "a view's memory cannot be exchanged");
  KEYWAY_CHECK_AS(Autograd, !self.requires_grad() || autograd::is_differentiable(new_data.dtype()),
                  "argument 'new_data' is {}, but a tensor that requires grad is floating or complex",
                  new_data.dtype());
  TensorImpl& impl = *self.impl();
  const bool is_alike =
      self.sizes() == new_data.sizes() && self.dtype() == new_data.dtype() && self.device() == new_data.device();
  if (!is_alike) autograd::forget_accumulator(self);
  autograd::take_attributes(self, new_data);
  impl.set_storage(new_data.storage());
  impl.set_dtype(new_data.dtype());
  impl.set_geometry(new_data.sizes(), new_data.strides(), new_data.storage_offset(), new_data.numel());
}

}  // namespace keyway::inline v1::composite
