// Indexing: x[...] and x[...] = y, in all forms of PyTorch and NumPy. Integers, slices, None and ... give views; index
// tensors, masks, lists and arrays give copies.
#pragma once

#include <nanobind/nanobind.h>
#include <span>

namespace keyway::inline v1::python {

// Slots for the class Tensor.
std::span<const PyType_Slot> indexing_slots();

}  // namespace keyway::inline v1::python
