// AccumulateGrad: the end of the graph at a leaf: adds each gradient to the leaf's `grad`.
#pragma once

#include <keyway/autograd/node.h>

namespace keyway::inline v1::autograd {

// One a leaf at a time; the leaf refers to it weakly, the nodes that use the leaf strongly.
class KEYWAY_API AccumulateGrad final : public Node {
 public:
  explicit AccumulateGrad(Tensor leaf);
  AccumulateGrad(Tensor leaf, NodeOrigin&& origin);
  std::string name() const override { return "AccumulateGrad"; }
  variable_list apply(variable_list&& grads) override;
  // The hooks of the leaf come first.
  void run_tensor_hooks(variable_list& grads) override;
  void release_resources() override {
    Node::release_resources();
    leaf_.reset();
  }
  const Tensor& leaf() const { return leaf_; }

 private:
  Tensor leaf_;
};

}  // namespace keyway::inline v1::autograd
