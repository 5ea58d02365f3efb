#include <keyway/nn/init.h>
#include <keyway/nn/modules/group_norm.h>
#include <keyway/nn/optional.h>
#include <keyway/ops/all.h>

#include <ostream>

namespace keyway::inline v1::nn {

GroupNormImpl::GroupNormImpl(GroupNormOptions options_) : options(options_) {
  const std::int64_t groups = options.num_groups(), channels = options.num_channels();
  KEYWAY_CHECK(groups > 0 && channels % groups == 0, "GroupNorm: {} groups do not divide {} channels", groups,
               channels);
  weight = register_parameter("weight", options.affine() ? empty({channels}) : Tensor());
  bias = register_parameter("bias", options.affine() && options.bias() ? empty({channels}) : Tensor());
  reset_parameters();
}

void GroupNormImpl::reset_parameters() {
  if (weight.defined()) init::ones_(weight);
  if (bias.defined()) init::zeros_(bias);
}

Tensor GroupNormImpl::forward(const Tensor& input) {
  return group_norm(input, options.num_groups(), if_defined(weight), if_defined(bias), options.eps());
}

void GroupNormImpl::pretty_print(std::ostream& stream) const {
  stream << "GroupNorm(" << options.num_groups() << ", " << options.num_channels() << ", eps=" << options.eps()
         << ", affine=" << (options.affine() ? "true" : "false") << ")";
}

}  // namespace keyway::inline v1::nn
