// What cannot be asked of a tensor within vmap, or within a capture.
#pragma once

#include <keyway/tensor.h>

namespace keyway::inline v1::python {

// Throws keyway::Error(NotImplemented) for a tensor of a single example, which has no memory of its own; refuses a
// capture, whose graph cannot follow what is read.
void check_has_memory(const Tensor& tensor, const char* asked);

}  // namespace keyway::inline v1::python
