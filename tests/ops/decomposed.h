// Calls of samples as graphs of what their decompositions call.
#pragma once

#include <keyway/graph/passes/decompose.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/graph/replayed.h>
#include <keyway/tests/ops/differentiable.h>
#include <keyway/tests/ops/samples.h>

#include <optional>
#include <string>
#include <vector>

namespace keyway::inline v1::testing {

inline const graph::Decompositions& default_table() {
  static const graph::Decompositions all = graph::default_decompositions();
  return all;
}

inline Program program_of(const Sample& sample) {
  const std::vector<Slot> slots = slots_of(sample.arguments);
  return [&sample, slots](const std::vector<Tensor>& inputs) {
    Stack stack = map_tensors(sample.arguments, [](const Tensor& tensor) { return tensor; });
    for (std::size_t i = 0; i < slots.size(); ++i) stack = with_tensor(stack, slots[i], inputs[i]);
    operator_named(sample.entry->op).call_boxed(stack);
    return tensors_in(stack);
  };
}

inline std::vector<Tensor> inputs_of(const Sample& sample) {
  std::vector<Tensor> inputs;
  for (const Slot slot : slots_of(sample.arguments)) inputs.push_back(tensor_at(sample.arguments, slot));
  return inputs;
}

// The graph of a call, decomposed; nothing if a capture refuses the call.
inline std::optional<graph::Graph> decomposed(const Program& program, const std::vector<Tensor>& inputs,
                                              graph::Level level) {
  graph::Graph graph;
  manual_seed(7);
  if (!error_in([&] { graph = captured(program, copies_of(inputs), level); }).empty()) return std::nullopt;
  graph::Graph made;
  const std::string error = error_in([&] { made = graph::decompose(graph, default_table()); });
  INFO(graph::to_string(graph));
  CHECK(error == "");
  if (!error.empty()) return std::nullopt;
  graph::check(made);
  return made;
}

}  // namespace keyway::inline v1::testing
