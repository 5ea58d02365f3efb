// What a call does beside giving results: what captures and passes ask of an operator.
#pragma once

#include <keyway/graph/node_values.h>

namespace keyway::inline v1::graph {

// Whether it draws random numbers, and so advances a generator.
KEYWAY_API bool draws_random(const OperatorEntry& op);

// Whether it changes what a tensor is and not its elements alone: its geometry in place, its memory, its history.
KEYWAY_API bool changes_tensor(const OperatorEntry& op);

// Whether its results have memory whose elements nobody has set, as those of empty() do.
bool gives_unset_memory(const OperatorEntry& op);

// Whether it sets what it writes to, or parts of it, without reading what was there, as copy_() and out= do.
bool overwrites(const OperatorEntry& op);

// Whether there are tensors among its results.
bool gives_tensors(const OperatorEntry& op);

// Whether a call is needed though nobody uses its results: it draws random numbers, or has no results and writes to
// nothing that a graph knows of. A write is needed if what it wrote is.
KEYWAY_API bool has_effect(const OperatorEntry& op);

// Whether a call gives the same whenever it is made with the same arguments, and does nothing else. What empty() gives
// is not the same.
KEYWAY_API bool is_pure(const OperatorEntry& op);

// The same of a call, which may take graphs: it does what their calls do.
KEYWAY_API bool draws_random(const Node& node);
KEYWAY_API bool has_effect(const Node& node);
KEYWAY_API bool is_pure(const Node& node);

}  // namespace keyway::inline v1::graph
