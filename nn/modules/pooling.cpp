#include <keyway/nn/modules/pooling.h>
#include <keyway/ops/all.h>

namespace keyway::inline v1::nn {

Tensor MaxPool1dImpl::forward(const Tensor& input) {
  return max_pool1d(input, options.kernel_size(), options.stride(), options.padding(), options.dilation(),
                    options.ceil_mode());
}

Tensor MaxPool2dImpl::forward(const Tensor& input) {
  return max_pool2d(input, options.kernel_size(), options.stride(), options.padding(), options.dilation(),
                    options.ceil_mode());
}

Tensor MaxPool3dImpl::forward(const Tensor& input) {
  return max_pool3d(input, options.kernel_size(), options.stride(), options.padding(), options.dilation(),
                    options.ceil_mode());
}

Tensor AvgPool1dImpl::forward(const Tensor& input) {
  KEYWAY_CHECK(!options.divisor_override(), "AvgPool1d: takes no divisor_override");
  return avg_pool1d(input, options.kernel_size(), options.stride(), options.padding(), options.ceil_mode(),
                    options.count_include_pad());
}

Tensor AvgPool2dImpl::forward(const Tensor& input) {
  return avg_pool2d(input, options.kernel_size(), options.stride(), options.padding(), options.ceil_mode(),
                    options.count_include_pad(), options.divisor_override());
}

Tensor AvgPool3dImpl::forward(const Tensor& input) {
  return avg_pool3d(input, options.kernel_size(), options.stride(), options.padding(), options.ceil_mode(),
                    options.count_include_pad(), options.divisor_override());
}

Tensor AdaptiveMaxPool1dImpl::forward(const Tensor& input) {
  return std::get<0>(adaptive_max_pool1d(input, options.output_size()));
}

Tensor AdaptiveMaxPool2dImpl::forward(const Tensor& input) {
  return std::get<0>(adaptive_max_pool2d(input, options.output_size()));
}

Tensor AdaptiveMaxPool3dImpl::forward(const Tensor& input) {
  return std::get<0>(adaptive_max_pool3d(input, options.output_size()));
}

Tensor AdaptiveAvgPool1dImpl::forward(const Tensor& input) { return adaptive_avg_pool1d(input, options.output_size()); }

Tensor AdaptiveAvgPool2dImpl::forward(const Tensor& input) { return adaptive_avg_pool2d(input, options.output_size()); }

Tensor AdaptiveAvgPool3dImpl::forward(const Tensor& input) { return adaptive_avg_pool3d(input, options.output_size()); }

}  // namespace keyway::inline v1::nn
