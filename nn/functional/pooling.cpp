#include <keyway/nn/functional/of_dims.h>
#include <keyway/nn/functional/opmath.h>
#include <keyway/nn/functional/pooling.h>
#include <keyway/ops/all.h>

namespace keyway::inline v1::nn::functional {

namespace {

// The given size, of the last dimensions or of all, if windows of it are as many as the input has positions; else the
// least.
template <std::size_t D>
std::vector<std::int64_t> unpooled_size(const Tensor& input, const ExpandingArray<D>& kernel_size,
                                        const ExpandingArray<D>& stride, const ExpandingArray<D>& padding,
                                        const std::optional<std::vector<std::int64_t>>& output_size) {
  const IntArrayRef sizes = input.sizes();
  KEYWAY_CHECK(sizes.size() == D + 1 || sizes.size() == D + 2,
               "max_unpool{}d: the input has {} or {} dimensions, not {}", D, D + 1, D + 2, sizes.size());
  KEYWAY_CHECK(!output_size || output_size->size() == D || output_size->size() == D + 2,
               "max_unpool{}d: output_size has {} sizes, not {} or {}", D, output_size->size(), D, D + 2);
  std::vector<std::int64_t> all;
  for (std::size_t i = 0; i < D; ++i) {
    const std::int64_t count = sizes[sizes.size() - D + i];
    const std::int64_t least = (count - 1) * stride[i] + kernel_size[i] - 2 * padding[i];
    const std::int64_t wanted = output_size ? (*output_size)[output_size->size() - D + i] : least;
    KEYWAY_CHECK(least - stride[i] < wanted && wanted < least + stride[i],
                 "max_unpool{}d: output_size[{}] is {}, but must be less than the stride {} away from {}", D, i, wanted,
                 stride[i], least);
    all.push_back(wanted);
  }
  return all;
}

}  // namespace

template <std::size_t D>
Tensor lp_pool(const Tensor& input, double norm_type, ExpandingArray<D> kernel_size, ExpandingArray<D> stride,
               bool ceil_mode) {
  const Tensor powers = to_opmath(input).pow(norm_type);
  double count = 1;
  for (std::size_t i = 0; i < D; ++i) count *= static_cast<double>(kernel_size[i]);
  const Tensor means = KEYWAY_OF_DIMS(D, avg_pool)(powers, kernel_size, stride, 0, ceil_mode);
  return means.mul(count).pow(1 / norm_type).to(input.dtype());
}

template <std::size_t D>
Tensor max_unpool(const Tensor& input, const Tensor& indices, ExpandingArray<D> kernel_size, ExpandingArray<D> stride,
                  ExpandingArray<D> padding, const std::optional<std::vector<std::int64_t>>& output_size) {
  std::vector<std::int64_t> sizes = unpooled_size(input, kernel_size, stride, padding, output_size);
  if constexpr (D == 3) return max_unpool3d(input, indices, sizes, stride, padding);
  if constexpr (D == 2) return max_unpool2d(input, indices, sizes);
  sizes.push_back(1);
  return max_unpool2d(input.unsqueeze(-1), indices.unsqueeze(-1), sizes).squeeze(-1);
}

template <std::size_t D>
std::tuple<Tensor, Tensor> fractional_max_pool_with_indices(const Tensor& input, ExpandingArray<D> kernel_size,
                                                            const std::optional<ExpandingArray<D>>& output_size,
                                                            const std::optional<std::vector<double>>& output_ratio) {
  const IntArrayRef sizes = input.sizes();
  KEYWAY_CHECK(sizes.size() == D + 1 || sizes.size() == D + 2,
               "fractional_max_pool{}d: the input has {} or {} dimensions, not {}", D, D + 1, D + 2, sizes.size());
  KEYWAY_CHECK(output_size || (output_ratio && (output_ratio->size() == 1 || output_ratio->size() == D)),
               "fractional_max_pool{}d: output_size is given, or output_ratio with one number or {}", D, D);
  std::vector<std::int64_t> wanted;
  for (std::size_t i = 0; i < D; ++i) {
    const auto size = static_cast<double>(sizes[sizes.size() - D + i]);
    wanted.push_back(output_size
                         ? (*output_size)[i]
                         : static_cast<std::int64_t>(size * (*output_ratio)[output_ratio->size() == 1 ? 0 : i]));
  }
  const std::int64_t batch = sizes.size() == D + 2 ? sizes[0] : 1, channels = sizes[sizes.size() - D - 1];
  const TensorOptions like = TensorOptions(input.device()).dtype(input.dtype());
  const Tensor samples = rand({batch, channels, static_cast<std::int64_t>(D)}, like);
  if constexpr (D == 2) return fractional_max_pool2d(input, kernel_size, wanted, samples);
  if constexpr (D == 3) return fractional_max_pool3d(input, kernel_size, wanted, samples);
}

#define KEYWAY_POOLS(D)                                                                                             \
  template Tensor lp_pool(const Tensor&, double, ExpandingArray<D>, ExpandingArray<D>, bool);                       \
  template Tensor max_unpool(const Tensor&, const Tensor&, ExpandingArray<D>, ExpandingArray<D>, ExpandingArray<D>, \
                             const std::optional<std::vector<std::int64_t>>&);
KEYWAY_POOLS(1)
KEYWAY_POOLS(2)
KEYWAY_POOLS(3)
template std::tuple<Tensor, Tensor> fractional_max_pool_with_indices(const Tensor&, ExpandingArray<2>,
                                                                     const std::optional<ExpandingArray<2>>&,
                                                                     const std::optional<std::vector<double>>&);
template std::tuple<Tensor, Tensor> fractional_max_pool_with_indices(const Tensor&, ExpandingArray<3>,
                                                                     const std::optional<ExpandingArray<3>>&,
                                                                     const std::optional<std::vector<double>>&);
#undef KEYWAY_POOLS

}  // namespace keyway::inline v1::nn::functional
