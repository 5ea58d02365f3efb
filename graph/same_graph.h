// Whether two graphs do the same to tensors of the same kinds: by what is kept of a graph can be found again.
#pragma once

#include <keyway/graph/graph.h>

#include <cstdint>

namespace keyway::inline v1::graph {

// Of equal graphs equal. Names and places in the program do not count, nor which tensors are state.
std::uint64_t hash_of(const Graph& graph);
bool is_same(const Graph& a, const Graph& b);
// The same of two calls by what they take, whatever they give.
std::uint64_t hash_of(const Node& call);
bool is_same_call(const Node& a, const Node& b);

}  // namespace keyway::inline v1::graph
