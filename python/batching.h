// What cannot be asked of a tensor that has no memory of its own, or within a capture.
#pragma once

#include <keyway/tensor.h>

namespace keyway::inline v1::python {

// Throws keyway::Error(NotImplemented) for the tensor of a single example within vmap, and for a wrapper tensor;
// refuses a capture, whose graph cannot follow what is read.
void check_has_memory(const Tensor& tensor, const char* asked);

}  // namespace keyway::inline v1::python
