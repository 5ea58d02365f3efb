// Softmax as users call it.
#pragma once

#include <keyway/tensor.h>

#include <optional>

namespace keyway::inline v1::composite {

Tensor softmax(const Tensor& self, std::int64_t dim, std::optional<ScalarType> dtype);
Tensor log_softmax(const Tensor& self, std::int64_t dim, std::optional<ScalarType> dtype);

}  // namespace keyway::inline v1::composite
