// The text of a program for all sizes, of captures of it.
#pragma once

#include <keyway/graph/formula.h>
#include <keyway/graph/graph.h>

#include <optional>
#include <string>
#include <vector>

namespace keyway::inline v1::graph {

// Of one capture at Level::Program, with fixed sizes. Throws keyway::Error(Value) for what a program cannot have:
// gradients that are left in leaves, and one tensor as two arguments.
std::string program_text(const Graph& graph);

// Of captures of one program with arguments of other sizes. An integer that differs becomes a formula of the
// dimensions, `sizes` of each capture, that gives it in all of them. Throws keyway::Error(Value), which names the call
// and the numbers, where there is none, and where captures differ in something else.
KEYWAY_API std::string program_text(const std::vector<Graph>& captures, const std::vector<Dimensions>& sizes);

// Where several formulas fit, sizes to capture the program with that tell them apart: one dimension of the first
// capture's has another size, from its lowest to its highest. Nothing where one fits, or all that do agree. Throws as
// program_text.
KEYWAY_API std::optional<Dimensions> telling_sizes(const std::vector<Graph>& captures,
                                                   const std::vector<Dimensions>& sizes, const Dimensions& lowest,
                                                   const Dimensions& highest);

}  // namespace keyway::inline v1::graph
