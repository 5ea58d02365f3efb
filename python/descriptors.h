// Descriptors: what describes tensors: dtype, layout and memory_format, of which Python has one object each; device.
#pragma once

#include <keyway/core/device/device.h>
#include <keyway/core/dtype/scalar_type.h>
#include <keyway/core/tensor/layout.h>
#include <keyway/core/tensor/memory_format.h>
#include <keyway/python/nanobind.h>

#include <optional>

namespace keyway::inline v1::python {

// Python's objects of a value: `keyway.float32`.
nb::object to_object(ScalarType dtype);
nb::object to_object(Layout layout);
nb::object to_object(MemoryFormat format);
nb::object to_object(Device device);

// The value of an argument, if it is one: also `float`, `int`, `bool` and `complex` for a dtype, and text or the number
// of a CUDA device for a device. Throw keyway::Error for a device that does not exist.
std::optional<ScalarType> dtype_in(PyObject* object);
std::optional<Layout> layout_in(PyObject* object);
std::optional<MemoryFormat> memory_format_in(PyObject* object);
std::optional<Device> device_in(PyObject* object);
// Device(text), which may bring the device type's library. Requires: the interpreter's lock.
Device device_named(std::string_view text);

}  // namespace keyway::inline v1::python
