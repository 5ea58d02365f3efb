#include <keyway/autograd/alias.h>
#include <keyway/autograd/backward_streams.h>
#include <keyway/autograd/saved_variable.h>
#include <keyway/autograd/variable.h>
#include <keyway/autograd/view_nodes.h>
#include <keyway/core/tensor/copy_on_write.h>

namespace keyway::inline v1::autograd {

namespace {
Edge history_of(const TensorBase& saved, bool is_output) {
  if (!is_output) return gradient_edge(saved);
  return {nullptr, static_cast<const AutogradMeta*>(saved.impl()->autograd_meta())->output_nr()};
}

// Of an output, whose gradient goes to the node that saved it; where that changed a view in place, to the change of the
// base, which runs it.
Edge edge_to(const Node& owner, std::uint32_t output_nr, const TensorBase& output) {
  if (Edge edge = CopySlices::edge_of_result(owner, output)) return edge;
  return {intrusive_ptr<Node>::retain(const_cast<Node*>(&owner)), output_nr};
}

Tensor unpacked(const PackedTensor& packed) {
  const SavedTensorHooksGuard without(nullptr);
  return packed.unpack();
}
}  // namespace

SavedVariable::SavedVariable(const TensorBase& tensor, bool is_output) {
  if (!tensor.defined()) return;
  KEYWAY_CHECK_AS(Autograd, !tensor.is_inference(),
                  "a tensor made in inference mode cannot be saved for backward: clone() it outside of inference mode");
  version_ = tensor._version();
  if (SavedTensorHooks* hooks = saved_tensor_hooks) [[unlikely]] {
    pack(tensor, is_output, *hooks);
    return;
  }
  if (tensor.is_leaf() && tensor.requires_grad()) {
    data_ = Tensor(tensor);
    return;
  }
  data_ = Tensor(alias_of(tensor));
  has_history_ = tensor.requires_grad();
  if (!has_history_) return;
  edge_ = history_of(tensor, is_output);
}

void SavedVariable::pack(const TensorBase& tensor, bool is_output, SavedTensorHooks& hooks) {
  has_history_ = tensor.requires_grad();
  if (has_history_) edge_ = history_of(tensor, is_output);
  const SavedTensorHooksGuard without(nullptr);
  const NoSharing copies;  // the keys of the call, which may be about to write, would know nothing of a lazy clone
  packed_ = hooks.pack(Tensor(alias_of(tensor)));
}

Tensor SavedVariable::unpack(const Node& owner, bool with_history) const {
  KEYWAY_CHECK_AS(
      Autograd, !released_,
      "{}: backward through this graph a second time, but what it saved is freed: pass retain_graph=true to "
      "the first backward",
      owner.name());
  const Tensor data = packed_ ? unpacked(*packed_) : data_;
  if (!data.defined()) return {};
  if (!data.device().is_cpu()) [[unlikely]]
    record_use(data);
  KEYWAY_CHECK_AS(Autograd, packed_ || data._version() == version_,
                  "{}: a tensor of shape {} that it needs for the gradient was changed in place: it is at version {}, "
                  "but was saved at {}; clone() it before the change",
                  owner.name(), data.sizes(), data._version(), version_);
  if (!has_history_ || !with_history) return data;
  Tensor original(alias_of(data));
  set_gradient_edge(original, edge_ ? edge_ : edge_to(owner, edge_.input_nr, original));
  return original;
}

}  // namespace keyway::inline v1::autograd
