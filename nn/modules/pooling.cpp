#include <keyway/nn/functional/of_dims.h>
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

template <std::size_t D>
Tensor MaxPoolNd<D>::forward(const Tensor& input) {
  const auto& asked = this->options;
  return KEYWAY_OF_DIMS(D, max_pool)(input, asked.kernel_size(), asked.stride(), asked.padding(), asked.dilation(),
                                     asked.ceil_mode());
}

template <std::size_t D>
std::tuple<Tensor, Tensor> MaxPoolNd<D>::forward_with_indices(const Tensor& input) {
  const auto& asked = this->options;
  return KEYWAY_OF_DIMS(D, max_pool, _with_indices)(input, asked.kernel_size(), asked.stride(), asked.padding(),
                                                    asked.dilation(), asked.ceil_mode());
}

template <std::size_t D>
Tensor AvgPoolNd<D>::forward(const Tensor& input) {
  const auto& asked = this->options;
  const auto pool = [&](const auto&... more) {
    return KEYWAY_OF_DIMS(D, avg_pool)(input, asked.kernel_size(), asked.stride(), asked.padding(), asked.ceil_mode(),
                                       asked.count_include_pad(), more...);
  };
  if constexpr (D == 1) {
    KEYWAY_CHECK(!asked.divisor_override(), "AvgPool1d: takes no divisor_override");
    return pool();
  } else {
    return pool(asked.divisor_override());
  }
}

template <std::size_t D>
std::tuple<Tensor, Tensor> AdaptiveMaxPoolNd<D>::forward_with_indices(const Tensor& input) {
  return KEYWAY_OF_DIMS(D, adaptive_max_pool)(input, filled(input, this->options.output_size()));
}

template <std::size_t D>
Tensor AdaptiveAvgPoolNd<D>::forward(const Tensor& input) {
  return KEYWAY_OF_DIMS(D, adaptive_avg_pool)(input, filled(input, this->options.output_size()));
}

template <std::size_t D>
Tensor LPPoolNd<D>::forward(const Tensor& input) {
  const auto& asked = this->options;
  return functional::lp_pool<D>(input, asked.norm_type(), asked.kernel_size(), asked.stride(), asked.ceil_mode());
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

#define KEYWAY_POOLS(D)                \
  template class MaxPoolNd<D>;         \
  template class AvgPoolNd<D>;         \
  template class AdaptiveMaxPoolNd<D>; \
  template class AdaptiveAvgPoolNd<D>; \
  template class LPPoolNd<D>;          \
  template class MaxUnpoolNd<D>
KEYWAY_POOLS(1);
KEYWAY_POOLS(2);
KEYWAY_POOLS(3);
template class FractionalMaxPoolNd<2>;
template class FractionalMaxPoolNd<3>;
#undef KEYWAY_POOLS

}  // namespace keyway::inline v1::nn
