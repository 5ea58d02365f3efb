#include <keyway/nn/modules/sequential.h>

namespace keyway::inline v1::nn {

Tensor SequentialImpl::forward(const Tensor& input) {
  KEYWAY_CHECK(!is_empty(), "Sequential has no modules");
  Tensor x = input;
  for (const auto& step : steps_) x = step(x);
  return x;
}

}  // namespace keyway::inline v1::nn
