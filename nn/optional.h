// An undefined tensor, which stands for none in modules, as the absent argument that operators take.
#pragma once

#include <keyway/tensor.h>

#include <optional>

namespace keyway::inline v1::nn {

inline std::optional<Tensor> if_defined(const Tensor& tensor) {
  return tensor.defined() ? std::optional<Tensor>(tensor) : std::nullopt;
}

}  // namespace keyway::inline v1::nn
