// What mappings of several families need.
#pragma once

#include <keyway/core/dtype/promote_types.h>
#include <keyway/onnx/export/operators/table.h>

namespace keyway::inline v1::onnx::exporter {

// The node that the row names, of the tensor 'self' in the dtype of the result.
inline Vars one(const Call& call) { return call.node(call.word(), {call.as("self", call.result_dtype())}); }

// The tensor itself.
inline Vars same(const Call& call) { return call.tensor("self"); }

// The dtype in which two arguments, tensors or numbers, meet: a number, or a tensor without dimensions, counts where it
// is of a higher kind (complex, floating-point, integer, boolean) alone.
ScalarType common_dtype(const Call& call, std::string_view a, std::string_view b);

}  // namespace keyway::inline v1::onnx::exporter
