// Runs a graph by making its calls one after the other. Every other way to run it has to give the same.
#pragma once

#include <keyway/graph/door.h>
#include <keyway/graph/graph.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace keyway::inline v1::graph {

// Why the graph does not hold for these arguments, in the present state of the thread and of the tensors that the graph
// refers to; nothing if it does. Dtypes, devices, sizes, strides, whether gradients are recorded, and which tensors are
// the same or share memory have to be as they were in the capture.
KEYWAY_API std::optional<std::string> mismatch(const Graph& graph, ArrayRef<Tensor> arguments);

// The outputs for these arguments. What the program wrote to is written to: arguments, state, generators. At
// Level::Executed nothing is recorded for backward. Throws keyway::Error(Value) for a mismatch, and what a call throws.
KEYWAY_API std::vector<Tensor> run(const Graph& graph, ArrayRef<Tensor> arguments);

// Lets a leaf keep a gradient; none if it is undefined. Throws keyway::Error(Value) for one that is not like the leaf.
void leave_grad(const Tensor& leaf, const Tensor& grad);

// The same for all inputs, in their order, without a check whether the graph holds for them.
std::vector<Tensor> run_inputs(const Graph& graph, const std::vector<Tensor>& inputs);

// A graph that is run several times in this way.
class KEYWAY_API Interpreter {
 public:
  explicit Interpreter(Graph graph);

  const Graph& graph() const { return graph_; }
  std::optional<std::string> mismatch(ArrayRef<Tensor> arguments) const { return door_.mismatch(arguments); }
  std::vector<Tensor> run(ArrayRef<Tensor> arguments) const;
  // The same for all inputs, in their order, without a check whether the graph holds for them.
  std::vector<Tensor> run_inputs(const std::vector<Tensor>& inputs) const;
  // The same, and observer(number, is_made) before each call and after it.
  using Observer = std::function<void(std::size_t, bool)>;
  std::vector<Tensor> run(ArrayRef<Tensor> arguments, const Observer& observer) const;
  // The same; if the graph does not hold for the arguments, says why, and has done nothing.
  std::optional<std::string> try_run(ArrayRef<Tensor> arguments, std::vector<Tensor>& results) const;

 private:
  Graph graph_;
  Door door_;
  std::vector<std::vector<ValueId>> ended_;  // after each call, the values that no later one uses
};

}  // namespace keyway::inline v1::graph
