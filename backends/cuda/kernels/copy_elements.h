// Elements from one location to another on one device, converted where dtypes differ. Internal to backends/cuda.
#pragma once

#include <keyway/core/tensor/tensor_base.h>

namespace keyway::inline v1::cuda {

// Requires: both lie on the current device and share no memory; src broadcasts to dst's sizes.
void copy_elements(const TensorBase& src, const TensorBase& dst);
// The same for different dtypes.
void convert_elements(const TensorBase& src, const TensorBase& dst);

}  // namespace keyway::inline v1::cuda
