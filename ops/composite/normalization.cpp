#include <keyway/ops/normalization.h>
#include <keyway/ops/normalization_composites.h>

#include <tuple>

namespace keyway::inline v1::composite {

Tensor layer_norm(const Tensor& input, IntArrayRef normalized_shape, const std::optional<Tensor>& weight,
                  const std::optional<Tensor>& bias, double eps, bool) {
  return std::get<0>(keyway::native_layer_norm(input, normalized_shape, weight, bias, eps));
}

}  // namespace keyway::inline v1::composite
