// Rows of a table put together bag by bag.
#include <keyway/ops/all.h>
#include <keyway/ops/composite/opmath.h>
#include <keyway/ops/indexing_composites.h>

#include <tuple>

namespace keyway::inline v1::composite {

namespace {

using FourTensors = std::tuple<Tensor, Tensor, Tensor, Tensor>;

enum BagMode : std::int64_t { kSumOfBag, kMeanOfBag, kGreatestOfBag };

// On other devices a look at the offsets would wait for them.
void check_offsets(const Tensor& offsets, std::int64_t indices) {
  if (!offsets.is_cpu() || offsets.numel() == 0) return;
  keyway::_assert_async(offsets.select(0, 0) == 0,
                        "argument 'offsets' must have 0 at position 0: the first bag begins there");
  keyway::_assert_async(
      (offsets >= 0).logical_and(offsets <= indices).all(),
      "all of argument 'offsets' must be from 0 to the number of indices, " + std::to_string(indices));
}

// What each index belongs to: the number of bags that have begun, but for one. What comes after the last bag belongs to
// one more.
struct Bags {
  Tensor of_index, counts;  // [indices]; which of these count
  std::int64_t size = 0;    // how many bags there are

  // Sums of rows [indices, width], bag by bag.
  Tensor sums(const Tensor& rows) const {
    return keyway::zeros({size + 1, rows.size(1)}, rows.options()).index_add(0, of_index, rows).narrow(0, 0, size);
  }
  Tensor sizes() const {
    return keyway::zeros({size + 1}, of_index.options())
        .index_add(0, of_index, counts.to(of_index.dtype()))
        .narrow(0, 0, size);
  }
};

Bags bags_of(const Tensor& indices, const Tensor& offsets, bool include_last_offset, std::int64_t padding_idx) {
  const Tensor begins = keyway::zeros({indices.numel() + 1}, offsets.options())
                            .index_add(0, offsets, keyway::ones_like(offsets))
                            .narrow(0, 0, indices.numel());
  return {begins.cumsum(0).to(offsets.dtype()) - 1,
          padding_idx < 0 ? keyway::ones_like(indices, kBool) : indices != padding_idx,
          offsets.numel() - (include_last_offset ? 1 : 0)};
}

// The greatest elements of each bag, and which index each of them comes from: of equals the first.
std::tuple<Tensor, Tensor> greatest(const Tensor& rows, const Tensor& indices, const Bags& bags) {
  const std::int64_t count = rows.size(0), width = rows.size(1);
  const Tensor values = rows.detach(), counts = bags.counts.unsqueeze(1);
  const Tensor of_index = bags.of_index.to(kLong).unsqueeze(1).expand({count, width});
  const Tensor lowest = keyway::full({bags.size + 1, width}, -INFINITY, values.options());
  const Tensor top = lowest.scatter_reduce(0, of_index, values.masked_fill(~counts, -INFINITY), "amax");
  const Tensor is_top = ((values == top.gather(0, of_index)) | values.isnan()) & counts;
  const Tensor none = keyway::scalar_tensor(count, of_index.options());
  const Tensor positions = keyway::where(is_top, keyway::arange(count, of_index.options()).unsqueeze(1), none);
  const Tensor first = none.expand({bags.size + 1, width})
                           .scatter_reduce(0, of_index, positions.expand({count, width}), "amin")
                           .narrow(0, 0, bags.size);
  const Tensor or_zero = keyway::cat({rows, keyway::zeros({1, width}, rows.options())}, 0);
  const Tensor or_first = keyway::cat({indices, keyway::zeros({1}, indices.options())}, 0);
  return {or_zero.gather(0, first), or_first.index_select(0, first.reshape({first.numel()})).reshape(first.sizes())};
}

}  // namespace

FourTensors embedding_bag_with(const Tensor& weight, const Tensor& indices, const Tensor& offsets,
                               bool scale_grad_by_freq, std::int64_t mode, bool,
                               const std::optional<Tensor>& per_sample_weights, bool include_last_offset,
                               std::int64_t padding_idx) {
  check_offsets(offsets, indices.numel());
  const ScalarType dtype = indices.dtype() == offsets.dtype() ? indices.dtype() : kLong;
  const Tensor ids = indices.to(dtype);
  const Bags bags = bags_of(ids, offsets.to(dtype), include_last_offset, padding_idx);
  const Tensor bag_sizes = bags.sizes();
  const Tensor rows = keyway::embedding(weight, ids, -1, scale_grad_by_freq && mode != kGreatestOfBag);
  if (mode == kGreatestOfBag) {
    const auto [values, from] = greatest(rows, ids, bags);
    return {values, bags.of_index, bag_sizes, from};
  }
  Tensor parts = to_opmath(rows);
  if (per_sample_weights) parts = parts * per_sample_weights->to(parts.dtype()).unsqueeze(1);
  if (padding_idx >= 0) parts = parts.masked_fill(~bags.counts.unsqueeze(1), 0);
  Tensor result = bags.sums(parts);
  if (mode == kMeanOfBag) result = result / bag_sizes.clamp(1).to(parts.dtype()).unsqueeze(1);
  return {result.to(weight.dtype()), bags.of_index, bag_sizes, keyway::zeros_like(bag_sizes)};
}

FourTensors embedding_bag(const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool scale_grad_by_freq,
                          std::int64_t mode, bool sparse, const std::optional<Tensor>& per_sample_weights,
                          bool include_last_offset) {
  return keyway::_embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights,
                                include_last_offset);
}

FourTensors embedding_bag_padding_idx(const Tensor& weight, const Tensor& indices, const Tensor& offsets,
                                      bool scale_grad_by_freq, std::int64_t mode, bool sparse,
                                      const std::optional<Tensor>& per_sample_weights, bool include_last_offset,
                                      std::optional<std::int64_t> padding_idx) {
  const std::int64_t row = padding_idx.value_or(-1);
  return keyway::_embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights,
                                include_last_offset, padding_idx && row < 0 ? row + weight.size(0) : row);
}

}  // namespace keyway::inline v1::composite
