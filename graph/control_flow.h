// Control flow that depends on data: calls that take graphs.
//
//   const std::vector<Tensor> y = graph::cond(x.sum() > 0, double_it, negate, {x});
//
// The functions are called with the operands. Outside of a capture that is all. Within one both functions are captured,
// each as a graph of its own, and the program's graph has one call, which runs the one or the other:
//
//   keyway::cond(Tensor pred, Graph true_graph, Graph false_graph, Tensor[] operands) -> Tensor[]
//   keyway::while_loop(Graph cond_graph, Graph body_graph, Tensor[] carried_inputs, Tensor[] additional_inputs)
//     -> Tensor[]
//
// where Graph is the class of a Subgraph. These are operators like any other; they are registered when they are first
// needed.
#pragma once

#include <keyway/graph/function_capture.h>

#include <vector>

namespace keyway::inline v1::graph {

// What one of the functions gives. A result that lies in the memory of an operand, or of another result, is a copy of
// it. Where `pred` is the tensor of an example of vmap both functions are called, and where() chooses.
//
// Within a capture both functions are called, with copies of the operands. They must not write to a tensor from
// outside, nor return one that they have from elsewhere than the operands, and have to give as many results, of the
// same dtypes, devices and sizes: else the capture is refused.
//
// Throws keyway::Error(Value) unless `pred` has one element.
KEYWAY_API std::vector<Tensor> cond(const Tensor& pred, const TensorFunction& true_fn, const TensorFunction& false_fn,
                                    const std::vector<Tensor>& operands);

// Calls body_fn with what it gave, first with carried_inputs, as long as cond_fn gives one element that is true. The
// functions get contiguous tensors, and so are the results, each in memory of its own. What body_fn gives has the
// dtypes, devices and sizes of what it is called with: throws keyway::Error(Value) otherwise. Within a capture as cond.
KEYWAY_API std::vector<Tensor> while_loop(const TensorFunction& cond_fn, const TensorFunction& body_fn,
                                          const std::vector<Tensor>& carried_inputs);

// Makes the operators and the class known, once for the process, unless the program is without them
// (control_flow_operators.h).
KEYWAY_API void register_control_flow();

}  // namespace keyway::inline v1::graph
