// SavedVariable: a tensor that a node keeps for backward.
#pragma once

#include <keyway/autograd/node.h>
#include <keyway/autograd/saved_tensor_hooks.h>
#include <keyway/core/keys/thread_state.h>

namespace keyway::inline v1::autograd {

// Remembers the tensor's version: a tensor that was changed in place since is an error, not a wrong gradient.
//
// What is kept is a tensor of its own over the same memory, and where the gradient of the original goes; not the
// original, whose history may come to contain the node: `x.add_(x * w)` would be a cycle, and so would an output of the
// node itself. Only a leaf that requires grad is kept as it is, since no history can come to it.
class KEYWAY_API SavedVariable {
 public:
  SavedVariable() = default;
  // Throws for an inference tensor, which has no version to check.
  SavedVariable(const TensorBase& tensor, bool is_output);

  // The tensor. `owner` is the node that saved it. Its history comes with it if `with_history`; formulas ask for that
  // only where backward is recorded. Throws if it was changed, or released.
  Tensor unpack(const Node& owner, bool with_history = grad_enabled()) const;
  void reset() {
    data_ = Tensor();
    packed_.reset();
    edge_ = {};
    released_ = true;
  }

 private:
  void pack(const TensorBase& tensor, bool is_output, SavedTensorHooks& hooks);

  Tensor data_;
  std::unique_ptr<PackedTensor> packed_;  // in place of the tensor, if the thread had hooks
  Edge edge_;                             // without a node for outputs: it leads to the owner
  std::uint32_t version_ = 0;
  bool has_history_ = false;
  bool released_ = false;
};

}  // namespace keyway::inline v1::autograd
