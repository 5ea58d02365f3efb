// Calls that change a tensor in place: its primal and its tangent are changed alike.
#pragma once

#include <keyway/forward/jvp_rules.h>

namespace keyway::inline v1::forward {

// Makes the call of an operator that writes to its first argument: `values` become its results. A tensor without a
// tangent at the level becomes a dual one, and if it is a view, so does its base. Throws keyway::Error: another
// argument is written to, or the tensor cannot become dual.
void call_in_place(const OperatorEntry& op, const LevelPtr& level, Stack& values);

// Throws keyway::Error(Autograd) if an argument is one for results.
void check_no_out(const OperatorEntry& op);

// Of operators that change a tensor's geometry or history in place, or ask for its history, makes the call. False of
// others.
bool call_on_tensor(const OperatorEntry& op, const LevelPtr& level, Stack& values);

}  // namespace keyway::inline v1::forward
