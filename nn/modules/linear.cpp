#include <keyway/nn/init.h>
#include <keyway/nn/modules/linear.h>
#include <keyway/nn/optional.h>
#include <keyway/ops/all.h>

#include <cmath>
#include <ostream>

namespace keyway::inline v1::nn {

LinearImpl::LinearImpl(LinearOptions options_) : options(options_) {
  weight = register_parameter("weight", empty({options.out_features(), options.in_features()}));
  bias = register_parameter("bias", options.bias() ? empty({options.out_features()}) : Tensor());
  reset_parameters();
}

void LinearImpl::reset_parameters() {
  init::kaiming_uniform_(weight, std::sqrt(5.0));
  if (!bias.defined()) return;
  const auto inputs = static_cast<double>(options.in_features());
  const double bound = inputs > 0 ? 1 / std::sqrt(inputs) : 0;
  init::uniform_(bias, -bound, bound);
}

Tensor LinearImpl::forward(const Tensor& input) { return linear(input, weight, if_defined(bias)); }

void LinearImpl::pretty_print(std::ostream& stream) const {
  stream << "Linear(in_features=" << options.in_features() << ", out_features=" << options.out_features()
         << ", bias=" << (options.bias() ? "true" : "false") << ")";
}

BilinearImpl::BilinearImpl(BilinearOptions options_) : options(options_) {
  const std::int64_t out = options.out_features();
  weight = register_parameter("weight", empty({out, options.in1_features(), options.in2_features()}));
  bias = register_parameter("bias", options.bias() ? empty({out}) : Tensor());
  reset_parameters();
}

void BilinearImpl::reset_parameters() {
  const double bound = 1 / std::sqrt(static_cast<double>(options.in1_features()));
  init::uniform_(weight, -bound, bound);
  if (bias.defined()) init::uniform_(bias, -bound, bound);
}

Tensor BilinearImpl::forward(const Tensor& input1, const Tensor& input2) {
  return bilinear(input1, input2, weight, if_defined(bias));
}

}  // namespace keyway::inline v1::nn
