// Python's operators on tensors: `x + 2`, `2 - x`, `x @ y`, `x += y`, `x < 3`. Each calls the method of
// Tensor that does it; other types than tensors and numbers get their own turn, as Python's rules have it.
#pragma once

#include <nanobind/nanobind.h>
#include <span>

namespace keyway::inline v1::python {

// Slots for the class Tensor.
std::span<const PyType_Slot> number_slots();

}  // namespace keyway::inline v1::python
