// copy_on_host: elements between two locations in the host's memory, before or after they travel.
#pragma once

#include <keyway/core/tensor/tensor_base.h>

namespace keyway::inline v1::cuda {

// Requires: both have one shape and one dtype, lie on the CPU and share no memory.
void copy_on_host(const TensorBase& to, const TensorBase& from);

}  // namespace keyway::inline v1::cuda
