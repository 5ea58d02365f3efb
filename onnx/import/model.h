// The Model that load() gives.
#pragma once

#include <keyway/onnx/import/format/external_data.h>
#include <keyway/onnx/onnx.h>

#include <memory>
#include <string_view>

namespace keyway::inline v1::onnx {

std::shared_ptr<const Model> make_model(std::string_view bytes, const ExternalData& external);

}  // namespace keyway::inline v1::onnx
