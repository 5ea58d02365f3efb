// For passes: further calls in a graph.
#pragma once

#include <keyway/graph/graph.h>

#include <string>
#include <string_view>

namespace keyway::inline v1::graph {

// A further value: the first in its memory, or in that of another one.
KEYWAY_API ValueId add_value(Graph& graph, TensorInfo info, ValueId memory = kNoValue);

// Appends a call, and the values that it gives, and returns its results as Node has them. What they are, and whose
// memory they lie in, the operator's Meta kernel tells. `arguments` are all arguments of the schema. Throws
// keyway::Error for what the operator refuses, for one whose results' sizes depend on elements, and for a call that
// gives an argument other sizes in place.
KEYWAY_API Stack add_call(Graph& graph, const OperatorEntry& op, Stack arguments, std::string site = {});

// The same by name, "select_scatter", for an operator with one result, which is returned. Arguments that are left out
// at the end are defaults.
KEYWAY_API ValueId add_call(Graph& graph, std::string_view op, Stack arguments, std::string site = {});

// A view of a value's memory by its geometry alone, with the dtype and device of the value: as_strided. Requires: it
// lies within that memory.
KEYWAY_API ValueId add_view(Graph& graph, ValueId of, const TensorInfo& geometry, std::string site = {});

}  // namespace keyway::inline v1::graph
