// Parameters as one vector, and back.
#pragma once

#include <keyway/core/base/macros.h>
#include <keyway/tensor.h>

#include <vector>

namespace keyway::inline v1::nn::utils {

// The elements of all parameters, one after the other: [numbers]. Gradients flow through it. Throws keyway::Error for
// parameters on several devices.
KEYWAY_API Tensor parameters_to_vector(const std::vector<Tensor>& parameters);
// Copies a vector [numbers] into parameters. Throws keyway::Error if it has too few elements; then nothing has
// changed.
KEYWAY_API void vector_to_parameters(const Tensor& vec, const std::vector<Tensor>& parameters);

}  // namespace keyway::inline v1::nn::utils
