// Calls that change a tensor in place: its primal and its tangent are changed alike.
#pragma once

#include <keyway/forward/jvp_rules.h>

namespace keyway::inline v1::forward {

// Makes the call of an operator that writes to its first argument: `values` become its results. A tensor without a
// tangent at the level becomes a dual one, and if it is a view, so does its base. Throws keyway::Error: another
// argument is written to, or the tensor cannot become dual.
void call_in_place(const OperatorEntry& op, const LevelPtr& level, Stack& values);

// Throws keyway::Error(Autograd) if the operator has an out= argument.
void check_no_out(const OperatorEntry& op);

// If `op` changes a tensor's geometry or history in place, or asks for its history, and the tensor has a tangent at
// `level`, makes the call, replaces `values` by the results and returns true.
bool call_metadata_op(const OperatorEntry& op, const LevelPtr& level, Stack& values);

}  // namespace keyway::inline v1::forward
