// Tensors of a file.
#pragma once

#include <keyway/onnx/import/format/external_data.h>
#include <keyway/onnx/onnx.h>

#include <string_view>

namespace keyway::inline v1::onnx {

struct NamedValue {
  std::string_view name;  // in the bytes
  Value value;
};

// Of the bytes of a TensorProto. No more is allocated than there are data. Throws keyway::Error: Parse for what is
// none, NotImplemented for types that Keyway has no tensors of.
NamedValue read_tensor(std::string_view proto, const ExternalData& external);

}  // namespace keyway::inline v1::onnx
