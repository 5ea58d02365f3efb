// Captures of functions within a program: what a call that takes graphs is made of.
#pragma once

#include <keyway/graph/capture.h>
#include <keyway/graph/graph.h>

#include <functional>
#include <vector>

namespace keyway::inline v1::graph {

using TensorFunction = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

struct CapturedFunction {
  Graph graph;
  std::vector<Tensor> state;  // of its inputs, those behind the arguments: what the function uses besides
};

// The graph of a call with copies of the arguments, which lie in memory as these do. It leaves no trace: the captures
// that the thread is in do not see it, generators are afterwards what they were, and the function is refused before it
// writes to a tensor from outside. Its results are contiguous, each in memory of its own: what is not is copied by the
// last calls of the graph, unless it lies in the memory of state. Throws keyway::Error(Value) for what is refused.
CapturedFunction capture_function(const TensorFunction& function, const std::vector<Tensor>& arguments,
                                  Level level = Level::Program);

// Makes the state of all functions further arguments of each: those that are returned, in their order.
std::vector<Tensor> with_common_arguments(std::vector<CapturedFunction*> functions);

// A result as capture_function leaves it: itself, or a copy if it is not contiguous or shares memory with `others`.
Tensor in_own_memory(const Tensor& result, const std::vector<Tensor>& others);

}  // namespace keyway::inline v1::graph
