// SavedVariable: a tensor that a node keeps for backward.
#pragma once

#include <keyway/autograd/node.h>

namespace keyway::inline v1::autograd {

// Remembers the tensor's version: a tensor that was changed in place since is an error, not a wrong gradient.
// An output of the node itself is kept without its history, which would be a cycle; unpack() gives it back.
class KEYWAY_API SavedVariable {
 public:
  SavedVariable() = default;
  // Throws for an inference tensor, which has no version to check.
  SavedVariable(const TensorBase& tensor, bool is_output);

  // The tensor with its history. `owner` is the node that saved it. Throws if it was changed, or released.
  Tensor unpack(const Node& owner) const;
  void reset() {
    data_ = Tensor();
    released_ = true;
  }

 private:
  Tensor data_;
  std::uint32_t version_ = 0;
  std::uint32_t output_nr_ = 0;
  bool is_output_ = false;
  bool requires_grad_ = false;
  bool released_ = false;
};

}  // namespace keyway::inline v1::autograd
