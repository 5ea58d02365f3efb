// What onnx/export.h promises, in the library.
#pragma once

#include <keyway/onnx/export.h>

#include <string>
#include <utility>
#include <vector>

namespace keyway::inline v1::onnx::exporter {

// The bytes of a model, and of the file beside it, if there is one, whose name is that.
struct Exported {
  std::string model, data;
};
Exported export_model(const graph::Program& program, const ExportOptions& options, const std::string& data_name);

}  // namespace keyway::inline v1::onnx::exporter
