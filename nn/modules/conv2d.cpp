#include <keyway/nn/init.h>
#include <keyway/nn/modules/conv2d.h>
#include <keyway/nn/optional.h>
#include <keyway/ops/all.h>

#include <cmath>
#include <ostream>

namespace keyway::inline v1::nn {

namespace {

std::ostream& operator<<(std::ostream& stream, const ExpandingArray<2>& pair) {
  return stream << "[" << pair[0] << ", " << pair[1] << "]";
}

}  // namespace

Conv2dImpl::Conv2dImpl(Conv2dOptions options_) : options(options_) {
  const std::int64_t groups = options.groups();
  KEYWAY_CHECK(groups > 0 && options.in_channels() % groups == 0 && options.out_channels() % groups == 0,
               "Conv2d: {} groups do not divide {} input and {} output channels", groups, options.in_channels(),
               options.out_channels());
  const auto kernel = options.kernel_size();
  weight = register_parameter("weight",
                              empty({options.out_channels(), options.in_channels() / groups, kernel[0], kernel[1]}));
  bias = register_parameter("bias", options.bias() ? empty({options.out_channels()}) : Tensor());
  reset_parameters();
}

void Conv2dImpl::reset_parameters() {
  init::kaiming_uniform_(weight, std::sqrt(5.0));
  if (!bias.defined()) return;
  const double bound = 1 / std::sqrt(static_cast<double>(init::calculate_fan_in_and_fan_out(weight).in));
  init::uniform_(bias, -bound, bound);
}

Tensor Conv2dImpl::forward(const Tensor& input) {
  return convolution(input, weight, if_defined(bias), options.stride(), options.padding(), options.dilation(),
                     /*transposed=*/false, /*output_padding=*/{0, 0}, options.groups());
}

void Conv2dImpl::pretty_print(std::ostream& stream) const {
  stream << "Conv2d(" << options.in_channels() << ", " << options.out_channels()
         << ", kernel_size=" << options.kernel_size() << ", stride=" << options.stride()
         << ", padding=" << options.padding() << ")";
}

}  // namespace keyway::inline v1::nn
