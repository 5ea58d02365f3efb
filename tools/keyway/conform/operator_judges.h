// Judges of an operator that has no other implementation to be held against, as those that a plug-in defines: what is
// true of every right operator.
#pragma once

#include <keyway/tools/keyway/conform/conform_call.h>
#include <keyway/tools/keyway/fuzz/judge.h>

#include <memory>

namespace keyway::inline v1::tools {

// Arguments are changed where the schema says so, and nothing beside them; what is written has another version; a call
// that is refused changes nothing. The same call again gives the same bits, whatever new memory holds. Transposed,
// strided, expanded and shifted arguments give what contiguous copies give, and an overload that writes its result
// gives what the one returns that does not. A pointwise operator gives the same for the same elements twice in a row.
std::unique_ptr<Judge> make_consistency_judge(const OperatorHandle& op, DeviceType device);
// Results and gradients in narrower floats are those in float64, rounded (tolerance.h). What a composite may err by
// includes what its results differ by for arguments that differ in their last bits. Calls with great and tiny numbers,
// where what lies between argument and result may overflow, are not judged.
std::unique_ptr<Judge> make_precision_judge(const OperatorHandle& op, DeviceType device);
// Gradients in float64 are those that differences give, where these do not show a corner.
std::unique_ptr<Judge> make_derivative_judge(const OperatorHandle& op, DeviceType device);
// Meta gives results of the shapes, dtypes and strides of the device's.
std::unique_ptr<Judge> make_meta_judge(const OperatorHandle& op, DeviceType device);
// Every kernel that the call comes to writes to and gives back the memory that its schema says
// (dispatch/inspect/schema_check.h).
std::unique_ptr<Judge> make_schema_judge(const OperatorHandle& op, DeviceType device);

}  // namespace keyway::inline v1::tools
