// How long a graph takes, call by call and as a plan.
#pragma once

#include <keyway/graph/graph.h>

#include <cstddef>
#include <optional>
#include <vector>

namespace keyway::inline v1::graph {

// In seconds.
struct Timings {
  std::vector<double> calls = {};             // of each call, made by the dispatcher
  std::optional<double> plan = std::nullopt;  // of a run as a plan, where there are plans of the graph
};

// The medians of `runs` runs of each kind, and of one before that is not counted. Each run has all effects that a run
// has: on arguments, state and generators. Throws as graph::run does.
KEYWAY_API Timings measure(const Graph& graph, ArrayRef<Tensor> arguments, std::size_t runs = 20);

}  // namespace keyway::inline v1::graph
