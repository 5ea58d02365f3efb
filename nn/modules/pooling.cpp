#include <keyway/nn/functional/pooling.h>
#include <keyway/nn/modules/pooling.h>
#include <keyway/ops/all.h>

namespace keyway::inline v1::nn {

namespace {

// The wanted sizes; those of the input where there are none.
template <std::size_t D>
std::vector<std::int64_t> filled(const Tensor& input, const ExpandingArrayWithOptionalElem<D>& wanted) {
  const IntArrayRef sizes = input.sizes();
  KEYWAY_CHECK(sizes.size() >= D, "adaptive pooling of {} dimensions: the input has {}", D, sizes.size());
  std::vector<std::int64_t> all;
  for (std::size_t i = 0; i < D; ++i) all.push_back(wanted[i].value_or(sizes[sizes.size() - D + i]));
  return all;
}

}  // namespace

Tensor MaxPool1dImpl::forward(const Tensor& input) {
  return max_pool1d(input, options.kernel_size(), options.stride(), options.padding(), options.dilation(),
                    options.ceil_mode());
}

std::tuple<Tensor, Tensor> MaxPool1dImpl::forward_with_indices(const Tensor& input) {
  return max_pool1d_with_indices(input, options.kernel_size(), options.stride(), options.padding(), options.dilation(),
                                 options.ceil_mode());
}

Tensor MaxPool2dImpl::forward(const Tensor& input) {
  return max_pool2d(input, options.kernel_size(), options.stride(), options.padding(), options.dilation(),
                    options.ceil_mode());
}

std::tuple<Tensor, Tensor> MaxPool2dImpl::forward_with_indices(const Tensor& input) {
  return max_pool2d_with_indices(input, options.kernel_size(), options.stride(), options.padding(), options.dilation(),
                                 options.ceil_mode());
}

Tensor MaxPool3dImpl::forward(const Tensor& input) {
  return max_pool3d(input, options.kernel_size(), options.stride(), options.padding(), options.dilation(),
                    options.ceil_mode());
}

std::tuple<Tensor, Tensor> MaxPool3dImpl::forward_with_indices(const Tensor& input) {
  return max_pool3d_with_indices(input, options.kernel_size(), options.stride(), options.padding(), options.dilation(),
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

Tensor AdaptiveMaxPool1dImpl::forward(const Tensor& input) { return std::get<0>(forward_with_indices(input)); }

std::tuple<Tensor, Tensor> AdaptiveMaxPool1dImpl::forward_with_indices(const Tensor& input) {
  return adaptive_max_pool1d(input, filled(input, options.output_size()));
}

Tensor AdaptiveMaxPool2dImpl::forward(const Tensor& input) { return std::get<0>(forward_with_indices(input)); }

std::tuple<Tensor, Tensor> AdaptiveMaxPool2dImpl::forward_with_indices(const Tensor& input) {
  return adaptive_max_pool2d(input, filled(input, options.output_size()));
}

Tensor AdaptiveMaxPool3dImpl::forward(const Tensor& input) { return std::get<0>(forward_with_indices(input)); }

std::tuple<Tensor, Tensor> AdaptiveMaxPool3dImpl::forward_with_indices(const Tensor& input) {
  return adaptive_max_pool3d(input, filled(input, options.output_size()));
}

Tensor AdaptiveAvgPool1dImpl::forward(const Tensor& input) {
  return adaptive_avg_pool1d(input, filled(input, options.output_size()));
}

Tensor AdaptiveAvgPool2dImpl::forward(const Tensor& input) {
  return adaptive_avg_pool2d(input, filled(input, options.output_size()));
}

Tensor AdaptiveAvgPool3dImpl::forward(const Tensor& input) {
  return adaptive_avg_pool3d(input, filled(input, options.output_size()));
}

template <std::size_t D>
Tensor LPPoolNd<D>::forward(const Tensor& input) {
  return functional::lp_pool<D>(input, options.norm_type(), options.kernel_size(), options.stride(),
                                options.ceil_mode());
}

template <std::size_t D>
Tensor MaxUnpoolNd<D>::forward(const Tensor& input, const Tensor& indices,
                               const std::optional<std::vector<std::int64_t>>& output_size) {
  const auto& asked = this->options;
  return functional::max_unpool<D>(input, indices, asked.kernel_size(), asked.stride(), asked.padding(), output_size);
}

template <std::size_t D>
FractionalMaxPoolNd<D>::FractionalMaxPoolNd(FractionalMaxPoolOptions<D> options_) : options(std::move(options_)) {
  KEYWAY_CHECK(options.output_size().has_value() != options.output_ratio().has_value(),
               "FractionalMaxPool{}d: either output_size or output_ratio is given", D);
  for (const double ratio : options.output_ratio().value_or(std::vector<double>())) {
    KEYWAY_CHECK(0 < ratio && ratio < 1, "FractionalMaxPool{}d: output_ratio is {}, but must be between 0 and 1", D,
                 ratio);
  }
}

template <std::size_t D>
std::tuple<Tensor, Tensor> FractionalMaxPoolNd<D>::forward_with_indices(const Tensor& input) {
  return functional::fractional_max_pool_with_indices<D>(input, options.kernel_size(), options.output_size(),
                                                         options.output_ratio());
}

template class LPPoolNd<1>;
template class LPPoolNd<2>;
template class LPPoolNd<3>;
template class MaxUnpoolNd<1>;
template class MaxUnpoolNd<2>;
template class MaxUnpoolNd<3>;
template class FractionalMaxPoolNd<2>;
template class FractionalMaxPoolNd<3>;

}  // namespace keyway::inline v1::nn
