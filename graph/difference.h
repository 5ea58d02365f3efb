// How two graphs differ, for people: the sequences of their calls, side by side.
#pragma once

#include <keyway/graph/graph.h>

#include <cstddef>
#include <string>

namespace keyway::inline v1::graph {

struct Difference {
  // A line for each thing that is not alike: "- " for what only `before` has, "+ " for what only `after` has, "~ " for
  // a call that is in both with other arguments or results, with a line for each of these.
  std::string text;
  std::size_t added = 0, removed = 0, changed = 0, alike = 0;  // calls

  bool empty() const { return text.empty(); }
};

// Numbers of values and places where calls were made do not count.
KEYWAY_API Difference difference(const Graph& before, const Graph& after);

}  // namespace keyway::inline v1::graph
