// Arguments that a graph holds for, with random elements.
#pragma once

#include <keyway/graph/graph.h>

#include <cstdint>
#include <vector>

namespace keyway::inline v1::tools {

// Floats lie between 0 and 1; integers are 0 or 1, so that they may be indices. Strides, offsets and which arguments
// share memory are those of the graph. Throws keyway::Error(Value) for a graph whose state is not there, as a text does
// not have it, and for geometry that no tensor has.
std::vector<Tensor> random_arguments(const graph::Graph& graph, std::uint64_t seed);

}  // namespace keyway::inline v1::tools
