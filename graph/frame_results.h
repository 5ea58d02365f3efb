// FrameResults: what a plan gives in each run, as the program gets it.
#pragma once

#include <keyway/graph/graph.h>

#include <vector>

namespace keyway::inline v1::graph {

// Whether the results of a call are there when the memory of its arguments is.
bool is_view(const Graph& graph, const Node& node);

class FrameResults {
 public:
  // Refers to both: the graph, and the tensors of its values.
  FrameResults(const Graph& graph, const std::vector<TensorBase>& tensors);

  // The results of a run with these inputs, in whose memory the tensors of their values lie. Leaves new gradients at
  // their leaves.
  std::vector<Tensor> of(const std::vector<Tensor>& inputs) const;

 private:
  // A value as the program gets it: in the memory of an input it is a view of that. `known` are those that are there.
  Tensor& value(ValueId id, std::vector<Tensor>& known) const;

  const Graph& graph_;
  const std::vector<TensorBase>& tensors_;
  std::vector<const Node*> view_calls_;  // that make what leaves the plan a view of something, in their order
};

}  // namespace keyway::inline v1::graph
