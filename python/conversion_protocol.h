// Tensors as Python's own values: bool(x), int(x), a list index, `for row in x`, `2 in x`,
// tolist().
#pragma once

#include <nanobind/nanobind.h>
#include <span>

namespace keyway::inline v1::python {

// Slots for the class Tensor, and methods of it that have none. Requires: add_operators.
std::span<const PyType_Slot> conversion_slots();
void add_conversions();

}  // namespace keyway::inline v1::python
