// The operators that have nodes of ONNX. A family is a file of this folder; its rows are constants.
#pragma once

#include <keyway/core/base/array_ref.h>
#include <keyway/dispatch/call/operator_entry.h>
#include <keyway/onnx/export/call.h>

#include <string_view>
#include <vector>

namespace keyway::inline v1::onnx::exporter {

struct Mapping {
  std::string_view op;  // "add.Tensor"
  Vars (*nodes)(const Call& call);
  std::string_view word = {};  // what the function is told: mostly the name of a node
};
using Family = ArrayRef<Mapping>;

// Null if it has none.
const Mapping* find_mapping(const OperatorEntry& op);
std::vector<const Mapping*> all_mappings();

Family activation_family();
Family comparison_family();
Family convolution_family();
Family creation_family();
Family indexing_family();
Family joining_family();
Family layer_family();
Family math_family();
Family matrix_family();
Family pooling_family();
Family reduction_family();
Family unary_family();
Family view_family();

}  // namespace keyway::inline v1::onnx::exporter
