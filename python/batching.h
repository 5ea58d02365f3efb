// What cannot be asked of a tensor that has no memory of its own.
#pragma once

#include <keyway/tensor.h>

namespace keyway::inline v1::python {

// Throws keyway::Error(NotImplemented) for the tensor of a single example within vmap, and for a wrapper tensor.
void check_has_memory(const Tensor& tensor, const char* asked);

}  // namespace keyway::inline v1::python
