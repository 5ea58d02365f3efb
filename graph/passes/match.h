// Matches: where the calls of a pattern stand in a graph.
#pragma once

#include <keyway/graph/graph.h>

#include <optional>
#include <vector>

namespace keyway::inline v1::graph {

struct Match {
  std::vector<ValueId> values;     // of the graph, for each of the pattern's; kNoValue for arguments it does not use
  std::vector<std::size_t> nodes;  // likewise
  std::size_t first() const;
  std::size_t last() const;
};

class Matcher {
 public:
  // Refers to both. Throws keyway::Error(Value) for what is no pattern.
  Matcher(const Graph& graph, const Graph& pattern);

  // A match whose first result is made by that call of the graph, and none of whose calls is taken.
  std::optional<Match> match(std::size_t node, const std::vector<bool>& is_taken) const;

 private:
  bool add_node(Match& match, std::size_t pattern_node, std::size_t node) const;
  bool add_value(Match& match, ValueId pattern_value, ValueId value) const;
  bool add_values(Match& match, const ArgumentList& arguments, const Stack& pattern_values, const Stack& values) const;
  std::optional<Match> with_results(Match match, std::size_t result, const std::vector<bool>& is_taken) const;
  bool is_replaceable(const Match& match, const std::vector<bool>& is_taken) const;
  bool is_written(const Match& match) const;

  const Graph& graph_;
  const Graph& pattern_;
  std::vector<std::size_t> makers_, pattern_makers_;  // of each value, the call that makes it; kNone of inputs
  std::vector<std::vector<std::size_t>> users_;       // of each value
  std::vector<bool> is_left_;
};

}  // namespace keyway::inline v1::graph
