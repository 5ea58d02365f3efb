// Makes a program of the bytes of a model.
#pragma once

#include <keyway/onnx/import/format/external_data.h>
#include <keyway/onnx/import/program/program.h>

#include <memory>
#include <string_view>

namespace keyway::inline v1::onnx {

// Every node has an operator that Keyway has, with attributes that it knows, and takes values that are there. Throws
// keyway::Error: Parse for what is no model, NotImplemented for what Keyway does not have.
std::shared_ptr<const Graph> compile(std::string_view model, const ExternalData& external);

}  // namespace keyway::inline v1::onnx
