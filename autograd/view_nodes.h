// Nodes that carry gradients across views which were changed in place.
#pragma once

#include <keyway/autograd/node.h>

#include <utility>

namespace keyway::inline v1::autograd {

// Where a tensor's elements lie in its storage, counted in elements of the tensor's own dtype.
struct TensorGeometry {
  DimVector sizes;
  DimVector strides;
  std::int64_t offset;
  bool complex;
};
TensorGeometry geometry_of(const TensorBase& tensor);
// Whether gradients can follow from a base to a view of it by their geometry: of one dtype, or one of complex numbers
// and one of what their parts are.
bool can_follow(ScalarType base, ScalarType view);

// The gradient of base.as_strided(sizes, strides, offset) with respect to base, which lies in its storage as
// the other three say: `grad` put in its place among zeros, summed where the view leads to one location several
// times.
KEYWAY_API Tensor as_strided_backward(const Tensor& grad, IntArrayRef base_sizes, IntArrayRef base_strides,
                                      std::int64_t base_offset, IntArrayRef sizes, IntArrayRef strides,
                                      std::int64_t offset);

// Backward of base.as_strided(view): scatters the view's gradient into zeros of the base's shape. If exactly one of the
// two is complex, that one is treated as real.
class AsStridedBackward final : public Node {
 public:
  // `origin`: what anomaly mode remembers. It is not asked for here, where a lock is held.
  AsStridedBackward(Edge base_edge, const TensorGeometry& base, const TensorBase& view, NodeOrigin&& origin);
  std::string name() const override { return "AsStridedBackward0"; }
  variable_list apply(variable_list&& grads) override;

 private:
  TensorGeometry base_;
  TensorGeometry view_;
};

// An in-place change of a view, seen from its base: `change` stands for the change of the view alone, whose input
// `view_input` was the view. Gradients of the base outside of the view pass through.
class CopySlices final : public Node {
 public:
  CopySlices(Edge base_edge, const TensorBase& base, const TensorBase& view, intrusive_ptr<Node> change,
             std::size_t view_input);
  std::string name() const override { return "CopySlices"; }
  variable_list apply(variable_list&& grads) override;
  void release_variables() override;

  // While this thread runs `change`: where the gradient of `result`, the view that it changed, goes. Without a node if
  // `change` is none that a CopySlices runs. It is not kept, since a change may have saved its result: it would hold
  // itself.
  static Edge edge_of_result(const Node& change, const TensorBase& result);

 private:
  // The calls of apply() that are under way in a thread, the last one first.
  struct Running {
    explicit Running(CopySlices& node) : slices(node), before(std::exchange(last, this)) {}
    ~Running() { last = before; }
    CopySlices& slices;
    Running* before;
    static constinit thread_local Running* last;
  };

  TensorGeometry base_;
  TensorGeometry view_;
  intrusive_ptr<Node> change_;
  std::size_t view_input_;
};

}  // namespace keyway::inline v1::autograd
