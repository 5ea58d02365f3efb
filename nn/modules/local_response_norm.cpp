#include <keyway/nn/functional/normalization.h>
#include <keyway/nn/modules/local_response_norm.h>
#include <keyway/ops/all.h>

namespace keyway::inline v1::nn {

Tensor LocalResponseNormImpl::forward(const Tensor& input) {
  return functional::local_response_norm(input, options.size(), options.alpha(), options.beta(), options.k());
}

Tensor CrossMapLRN2dImpl::forward(const Tensor& input) {
  KEYWAY_CHECK(input.dim() == 4, "CrossMapLRN2d: the input has 4 dimensions, not {}", input.dim());
  const std::int64_t reach = (options.size() - 1) / 2, channels = input.size(1);
  const Tensor squares = pad(input.square(), {0, 0, 0, 0, reach, reach});
  Tensor total = squares.narrow(1, 0, channels);
  for (std::int64_t i = 1; i <= 2 * reach; ++i) total = total.add(squares.narrow(1, i, channels));
  const Tensor beyond = arange(channels, TensorOptions(input.device())).gt(reach).reshape({1, -1, 1, 1});
  total = total.add(input.narrow(1, 0, 1).square().mul(beyond));
  const double part = options.alpha() / static_cast<double>(options.size());
  return input.mul(total.mul(part).add(options.k()).pow(-options.beta()));
}

}  // namespace keyway::inline v1::nn
