// Normalisation as users call it.
#pragma once

#include <keyway/tensor.h>

#include <optional>

namespace keyway::inline v1::composite {

Tensor layer_norm(const Tensor& input, IntArrayRef normalized_shape, const std::optional<Tensor>& weight,
                  const std::optional<Tensor>& bias, double eps, bool cudnn_enable);

}  // namespace keyway::inline v1::composite
