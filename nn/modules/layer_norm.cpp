#include <keyway/nn/init.h>
#include <keyway/nn/modules/layer_norm.h>
#include <keyway/nn/optional.h>
#include <keyway/ops/all.h>

#include <ostream>

namespace keyway::inline v1::nn {

LayerNormImpl::LayerNormImpl(LayerNormOptions options_) : options(std::move(options_)) {
  const auto make = [&](bool is_there) { return is_there ? keyway::empty(options.normalized_shape()) : Tensor(); };
  weight = register_parameter("weight", make(options.elementwise_affine()));
  bias = register_parameter("bias", make(options.elementwise_affine() && options.bias()));
  reset_parameters();
}

void LayerNormImpl::reset_parameters() {
  if (weight.defined()) init::ones_(weight);
  if (bias.defined()) init::zeros_(bias);
}

Tensor LayerNormImpl::forward(const Tensor& input) {
  return layer_norm(input, options.normalized_shape(), if_defined(weight), if_defined(bias), options.eps());
}

void LayerNormImpl::pretty_print(std::ostream& stream) const {
  stream << "LayerNorm([";
  for (const char* separator = ""; const std::int64_t size : options.normalized_shape()) {
    stream << separator << size;
    separator = ", ";
  }
  stream << "], eps=" << options.eps() << ", elementwise_affine=" << (options.elementwise_affine() ? "true" : "false")
         << ")";
}

}  // namespace keyway::inline v1::nn
