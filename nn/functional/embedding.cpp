#include <keyway/nn/functional/embedding.h>
#include <keyway/nn/optional.h>
#include <keyway/ops/all.h>

#include <algorithm>
#include <array>

namespace keyway::inline v1::nn::functional {

namespace {

constexpr std::array<std::string_view, 3> kModes = {"sum", "mean", "max"};  // as the operator numbers them

void check_bags(const Tensor& indices, const EmbeddingBagFuncOptions& options) {
  const Tensor &offsets = options.offsets(), &weights = options.per_sample_weights();
  KEYWAY_CHECK(std::ranges::find(kModes, options.mode()) != kModes.end(),
               "embedding_bag: mode is '{}', but must be 'sum', 'mean' or 'max'", options.mode());
  KEYWAY_CHECK(!weights.defined() || weights.sizes() == indices.sizes(),
               "embedding_bag: per_sample_weights have shape {}, but must have that of the indices, {}",
               weights.sizes(), indices.sizes());
  KEYWAY_CHECK(indices.dim() == 1 || indices.dim() == 2, "embedding_bag: indices have 1 or 2 dimensions, not {}",
               indices.dim());
  KEYWAY_CHECK(indices.dim() == 1 || !offsets.defined(),
               "embedding_bag: offsets are for indices of 1 dimension: the rows of 2 are the bags");
  KEYWAY_CHECK(indices.dim() == 2 || (offsets.defined() && offsets.dim() == 1),
               "embedding_bag: indices of 1 dimension need offsets of 1 dimension");
  KEYWAY_CHECK(options.mode() != "max" || !options.scale_grad_by_freq(),
               "embedding_bag: scale_grad_by_freq is not for mode 'max'");
  KEYWAY_CHECK(!weights.defined() || options.mode() == "sum",
               "embedding_bag: per_sample_weights are for mode 'sum', not '{}'", options.mode());
}

}  // namespace

Tensor embedding_bag(const Tensor& indices, const Tensor& weight, const EmbeddingBagFuncOptions& options) {
  check_bags(indices, options);
  Tensor flat = indices, offsets = options.offsets(), weights = options.per_sample_weights();
  if (indices.dim() == 2) {
    offsets = arange(indices.size(0), TensorOptions(indices.device()).dtype(indices.dtype())).mul(indices.size(1));
    flat = indices.reshape({-1});
    if (weights.defined()) weights = weights.reshape({-1});
  }
  if (options.max_norm()) embedding_renorm_(weight, flat, *options.max_norm(), options.norm_type());
  const auto mode = std::ranges::find(kModes, options.mode()) - kModes.begin();
  return std::get<0>(keyway::embedding_bag(weight, flat, offsets, options.scale_grad_by_freq(), mode, /*sparse=*/false,
                                           if_defined(weights), options.include_last_offset(), options.padding_idx()));
}

void embedding_renorm_(const Tensor& weight, const Tensor& indices, double max_norm, double norm_type) {
  const NoGradGuard no_grad;
  const Tensor flat = indices.reshape({-1}), rows = weight.index_select(0, flat);
  const Tensor norms = linalg_vector_norm(rows, norm_type, IntArrayRef({1}), true);
  const Tensor scale = where(norms.gt(max_norm), norms.add(1e-7).reciprocal().mul(max_norm), ones_like(norms));
  weight.index_copy_(0, flat, rows.mul(scale));
}

Tensor one_hot(const Tensor& classes, std::int64_t num_classes) {
  KEYWAY_CHECK(classes.dtype() == kLong, "one_hot: classes are int64, not {}", classes.dtype());
  KEYWAY_CHECK(classes.numel() > 0 || num_classes > 0, "one_hot: without classes, num_classes must be given");
  const bool has_any = classes.numel() > 0;
  const std::int64_t least = has_any ? classes.min().item<std::int64_t>() : 0;
  const std::int64_t largest = has_any ? classes.max().item<std::int64_t>() : -1;
  KEYWAY_CHECK(least >= 0, "one_hot: a class is {}, but must not be negative", least);
  const std::int64_t count = num_classes == -1 ? largest + 1 : num_classes;
  KEYWAY_CHECK(count >= 1 && largest < count, "one_hot: there are {} classes, but the largest in the tensor is {}",
               count, largest);
  std::vector<std::int64_t> sizes = classes.sizes().vec();
  sizes.push_back(count);
  return classes.new_zeros(sizes).scatter_(-1, classes.unsqueeze(-1), 1);
}

}  // namespace keyway::inline v1::nn::functional
