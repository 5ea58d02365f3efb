// Reads the texts of programs for all sizes (program.h): as the text of a graph, but that integers may be formulas of
// the dimensions that arguments have, and that only inputs are described.
#pragma once

#include <keyway/graph/formula.h>
#include <keyway/graph/graph.h>

#include <set>
#include <string>
#include <vector>

namespace keyway::inline v1::graph {

// An input of a program.
struct ProgramInput {
  std::string name;
  bool is_state;
  std::string description;         // "float32[batch, 3]"
  TensorInfo info;                 // in which a size that is a formula of names is 1
  std::vector<std::string> sizes;  // formulas
};

// What is known of a program without sizes.
struct Signature {
  std::vector<ProgramInput> inputs;  // arguments first
  std::vector<std::string> dimensions;
  std::set<const OperatorEntry*> operators;
  ScalarType default_dtype = ScalarType::Float;
  std::size_t outputs = 0;
};

// Checks the whole text. Needs no more memory than the text has. Throws keyway::Error(Parse) with the number of the
// line.
KEYWAY_API Signature parse_signature(std::string_view text);

// The calls for those sizes. Nothing is known of values beside inputs: each is said to be a number. Throws as
// parse_signature, and for formulas that have no value for these sizes.
Graph parse_calls(std::string_view text, const Dimensions& dimensions);

}  // namespace keyway::inline v1::graph
