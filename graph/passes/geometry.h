// Values with another geometry, and parts of them exchanged: what passes make of calls that exist.
#pragma once

#include <keyway/graph/graph.h>

#include <optional>
#include <string>

namespace keyway::inline v1::graph {

bool same_geometry(const TensorInfo& a, const TensorInfo& b);

// Elements from the start of its memory to behind its last one; 0 without elements.
std::int64_t reach_of(const TensorInfo& info);

// A copy of `value` whose geometry is that of `geometry`. Requires: that is dense and has the offset 0.
ValueId add_copy(Graph& graph, ValueId value, const TensorInfo& geometry, const std::string& site);

// The elements of `value` in one row.
ValueId add_row(Graph& graph, ValueId value, const std::string& site);

// `row`, all of a memory, with `part` in the place of the elements of that geometry. Requires: no two of these are one.
ValueId add_scattered(Graph& graph, ValueId row, ValueId part, const TensorInfo& geometry, const std::string& site);

// What `base` is once `result`, which the call `view` made of it, is `part`; nothing for views of which that is not
// known. `number` says which of the call's results it is.
std::optional<ValueId> add_inverse(Graph& graph, const Node& view, std::size_t number, ValueId base, ValueId part);

}  // namespace keyway::inline v1::graph
