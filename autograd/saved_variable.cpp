#include <keyway/autograd/saved_variable.h>
#include <keyway/autograd/variable.h>

namespace keyway::inline v1::autograd {

SavedVariable::SavedVariable(const TensorBase& tensor, bool is_output) {
  if (!tensor.defined()) return;
  KEYWAY_CHECK_AS(Autograd, !tensor.is_inference(),
                  "a tensor made in inference mode cannot be saved for backward: clone() it outside of inference mode");
  version_ = tensor._version();
  if (tensor.is_leaf() && tensor.requires_grad()) {
    data_ = Tensor(tensor);
    return;
  }
  data_ = make_view(tensor, tensor.sizes(), tensor.strides(), tensor.storage_offset());
  has_history_ = tensor.requires_grad();
  if (!has_history_) return;
  edge_ = is_output ? Edge{nullptr, static_cast<const Meta*>(tensor.impl()->autograd_meta())->output_nr()}
                    : gradient_edge(tensor);
}

Tensor SavedVariable::unpack(const Node& owner, bool with_history) const {
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
  if (!has_history_ || !with_history) return data_;
  Tensor original(make_view(data_, data_.sizes(), data_.strides(), data_.storage_offset()));
  set_gradient_edge(original,
                    edge_ ? edge_ : Edge{intrusive_ptr<Node>::retain(const_cast<Node*>(&owner)), edge_.input_nr});
  return original;
}

}  // namespace keyway::inline v1::autograd
