// Dtypes and devices in DLPack's words, and back.
#pragma once

#include <keyway/core/device/device.h>
#include <keyway/core/dtype/scalar_type.h>
#include <keyway/python/dlpack.h>

#include <optional>

namespace keyway::inline v1::python {

std::optional<dlpack::DataType> to_dlpack(ScalarType dtype);
std::optional<ScalarType> from_dlpack(dlpack::DataType type);
std::optional<dlpack::Device> to_dlpack(Device device);
std::optional<Device> from_dlpack(dlpack::Device device);

}  // namespace keyway::inline v1::python
