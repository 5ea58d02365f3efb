// Links: which call needs which, and what each moves, for those who look at a graph.
#pragma once

#include <keyway/graph/graph.h>

#include <cstddef>
#include <string_view>
#include <vector>

namespace keyway::inline v1::graph {

// What a call does to memory.
enum class CallKind : std::uint8_t {
  View,       // gives what lies in the memory of its arguments; no element moves
  Write,      // changes arguments
  Pointwise,  // computes each element of new results by itself
  Other,      // computes
};
KEYWAY_API CallKind kind_of(const Graph& graph, const Node& node);
KEYWAY_API std::string_view to_string(CallKind kind);

// The values that a call is given, those that it writes to, and those that it gives and was not given; each once.
struct CallValues {
  KEYWAY_API explicit CallValues(const Node& node);

  std::vector<ValueId> given, written, made;
};

// The bytes of the elements of a tensor; one that lies everywhere by a stride of 0 counts once.
double bytes_of(const TensorInfo& info);
// What a call reads and writes of memory, if it does each once.
KEYWAY_API double bytes_moved(const Graph& graph, const Node& node);

// From what made a value, or has last written to it, to what uses it. The ends are items: inputs, then calls, then
// leaf gradients, then outputs, counted through.
struct Link {
  std::size_t from, to;
  ValueId value;
  bool by_memory;  // `from` wrote to the memory of the value through another one
};
KEYWAY_API std::vector<Link> links_of(const Graph& graph);

}  // namespace keyway::inline v1::graph
