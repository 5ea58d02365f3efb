// Source: what a program is to its export: calls that have nodes, without changes in place.
#pragma once

#include <keyway/graph/program.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace keyway::inline v1::onnx::exporter {

struct Source {
  std::vector<std::string> dimensions;
  // The calls for some sizes of the dimensions.
  graph::Graph graph;
  // The formulas of integers that follow from dimensions, by call and argument; of a list, of all of its elements.
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::string>> formulas;
  // The sizes of values as formulas; of those that are no inputs, "" where a size is not fixed and is no dimension.
  std::vector<std::vector<std::string>> sizes;
  std::vector<bool> is_used;  // of values: whether a call takes it, or the program returns it
};

// Calls that have no nodes are replaced by what they call. Throws keyway::Error: NotImplemented for a call for which
// that does not do, Value for a program that writes to an argument or to its state.
Source source_of(const graph::Program& program);

}  // namespace keyway::inline v1::onnx::exporter
