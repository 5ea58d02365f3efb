#include <keyway/autograd/saved_variable.h>
#include <keyway/autograd/variable.h>

namespace keyway::inline v1::autograd {

SavedVariable::SavedVariable(const TensorBase& tensor, bool is_output) {
  if (!tensor.defined()) return;
  KEYWAY_CHECK_AS(Autograd, !tensor.is_inference(),
                  "a tensor made in inference mode cannot be saved for backward: clone() it outside of inference mode");
  version_ = tensor._version();
  is_output_ = is_output && !tensor.is_leaf();
  if (is_output_) {
    requires_grad_ = tensor.requires_grad();
    output_nr_ = static_cast<const Meta*>(tensor.impl()->autograd_meta())->output_nr();
    data_ = make_view(tensor, tensor.sizes(), tensor.strides(), tensor.storage_offset());
  } else {
    data_ = Tensor(tensor);
  }
}

Tensor SavedVariable::unpack(const Node& owner) const {
  KEYWAY_CHECK_AS(
      Autograd, !released_,
      "{}: backward through this graph a second time, but what it saved is freed: pass retain_graph=true to "
      "the first backward",
      owner.name());
  if (!data_.defined()) return {};
  KEYWAY_CHECK_AS(Autograd, data_._version() == version_,
                  "{}: a tensor of shape {} that it needs for the gradient was changed in place: it is at version {}, "
                  "but was saved at {}; clone() it before the change",
                  owner.name(), data_.sizes(), data_._version(), version_);
  if (!is_output_ || !requires_grad_) return data_;
  Tensor output(make_view(data_, data_.sizes(), data_.strides(), data_.storage_offset()));
  set_gradient_edge(output, {intrusive_ptr<Node>::retain(const_cast<Node*>(&owner)), output_nr_});
  return output;
}

}  // namespace keyway::inline v1::autograd
