#include <keyway/nn/init.h>
#include <keyway/nn/modules/rms_norm.h>
#include <keyway/nn/optional.h>
#include <keyway/ops/all.h>

namespace keyway::inline v1::nn {

RMSNormImpl::RMSNormImpl(RMSNormOptions options_) : options(std::move(options_)) {
  weight =
      register_parameter("weight", options.elementwise_affine() ? keyway::empty(options.normalized_shape()) : Tensor());
  reset_parameters();
}

void RMSNormImpl::reset_parameters() {
  if (weight.defined()) init::ones_(weight);
}

Tensor RMSNormImpl::forward(const Tensor& input) {
  return rms_norm(input, options.normalized_shape(), if_defined(weight), options.eps());
}

}  // namespace keyway::inline v1::nn
