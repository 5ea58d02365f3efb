// Subgraph: a graph that is an argument of a call, as those of cond and while_loop are (control_flow.h).
#pragma once

#include <keyway/core/base/custom_class_holder.h>
#include <keyway/graph/graph.h>

#include <memory>
#include <vector>

namespace keyway::inline v1::graph {

class Interpreter;
class Plan;

// A function of tensors: it has no state, writes to none of its arguments, and its results are new tensors, each in
// memory of its own. In schemas it is a __torch__.torch.classes.keyway.Graph.
class KEYWAY_API Subgraph : public CustomClassHolder {
 public:
  // Throws keyway::Error(Value) unless the graph is such a function.
  explicit Subgraph(Graph graph);
  ~Subgraph() override;

  const Graph& graph() const;
  // Its results. At Level::Executed it is run as a plan where there are any, without a history; at Level::Program
  // gradients are recorded. Throws keyway::Error(Value) for tensors of other dtypes, devices or sizes than the graph's;
  // those with other strides are copied at Level::Executed.
  std::vector<Tensor> run(const std::vector<Tensor>& inputs) const;

 private:
  void check_inputs(const std::vector<Tensor>& inputs) const;

  std::unique_ptr<Plan> plan_;
  std::unique_ptr<Interpreter> calls_;  // where there is no plan
};

// The graph that a value is; null if it is something else.
KEYWAY_API const Subgraph* subgraph_of(const IValue& value);

// The tensor, or a copy that lies in its memory as `info` says.
Tensor laid_out(const Tensor& tensor, const TensorInfo& info);

}  // namespace keyway::inline v1::graph
