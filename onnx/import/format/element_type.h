// The types of elements that ONNX has, by their numbers in files.
#pragma once

#include <keyway/core/dtype/scalar_type.h>

#include <cstdint>
#include <string_view>

namespace keyway::inline v1::onnx {

inline constexpr std::int64_t kStringType = 8;

// "float32", "string"; empty if there is no such number.
std::string_view element_type_name(std::int64_t type);
// Throws keyway::Error: NotImplemented for types that Keyway has no tensors of, Parse if there is no such number.
// Requires: it is not kStringType.
ScalarType dtype_of_element_type(std::int64_t type);
// Its inverse. Throws keyway::Error(NotImplemented) for a dtype that ONNX does not have.
std::int64_t element_type_of(ScalarType dtype);

}  // namespace keyway::inline v1::onnx
