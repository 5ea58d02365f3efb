// Pooling by norms, by pseudorandom windows, and what pooling has taken back at its positions. D dimensions are pooled,
// those behind batch and channels, of inputs with or without a batch.
#pragma once

#include <keyway/core/base/macros.h>
#include <keyway/nn/expanding_array.h>
#include <keyway/tensor.h>

#include <optional>
#include <tuple>
#include <vector>

namespace keyway::inline v1::nn::functional {

// The sum of the `norm_type`-th powers of each window, and of that the root. D is 1, 2 or 3.
template <std::size_t D>
KEYWAY_API Tensor lp_pool(const Tensor& input, double norm_type, ExpandingArray<D> kernel_size,
                          ExpandingArray<D> stride, bool ceil_mode = false);

// What max_pool has taken, back at its positions, with the indices that it gives; zeros between them. output_size: of
// the result, if it is not the least that has as many windows. Throws keyway::Error for one that a window's stride does
// not allow. D is 1, 2 or 3.
template <std::size_t D>
KEYWAY_API Tensor max_unpool(const Tensor& input, const Tensor& indices, ExpandingArray<D> kernel_size,
                             ExpandingArray<D> stride, ExpandingArray<D> padding = 0,
                             const std::optional<std::vector<std::int64_t>>& output_size = {});

// The greatest of windows that are spread by pseudorandom steps, so that there are output_size of them, or the input's
// sizes times output_ratio; and where they are. D is 2 or 3.
template <std::size_t D>
KEYWAY_API std::tuple<Tensor, Tensor> fractional_max_pool_with_indices(
    const Tensor& input, ExpandingArray<D> kernel_size, const std::optional<ExpandingArray<D>>& output_size,
    const std::optional<std::vector<double>>& output_ratio = {});

}  // namespace keyway::inline v1::nn::functional
