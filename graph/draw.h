// Pictures of graphs: as DOT for Graphviz, and as a page of HTML.
#pragma once

#include <keyway/graph/graph.h>
#include <keyway/graph/timing.h>

#include <string>
#include <string_view>

namespace keyway::inline v1::graph {

// A box for each input, call, gradient and output, and an edge for each value that one needs of another. An edge is
// dashed where a call wrote to the memory of the value.
KEYWAY_API std::string to_dot(const Graph& graph);

// One page that needs nothing else: the graph, top-down, to be moved, zoomed and searched, with what is known of each
// call. `timings` may lack what was not measured; where it has calls, there are as many as in the graph.
KEYWAY_API std::string to_html(const Graph& graph, const Timings& timings = {});

// The JavaScript that other pages of Keyway are drawn with, too: functions that make elements, and texts of bytes.
KEYWAY_API std::string_view page_elements();

}  // namespace keyway::inline v1::graph
