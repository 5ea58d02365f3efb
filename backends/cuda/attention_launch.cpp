#include <keyway/backends/cuda/attention_launch.h>

#include <cstddef>
#include <limits>

namespace keyway::inline v1::cuda {

namespace {

constexpr std::int64_t kPiece = 16;  // bytes

// Of a dimension whose stride counts.
std::int64_t step_of(const TensorBase& tensor, std::size_t dim) {
  return tensor.sizes()[dim] == 1 ? 0 : tensor.strides()[dim];
}

}  // namespace

bool has_dense_rows(const TensorBase& tensor) { return tensor.sizes()[3] == 1 || tensor.strides()[3] == 1; }

AttentionHeads attention_heads(const TensorBase& tensor) {
  AttentionHeads heads;
  heads.data = static_cast<char*>(tensor.data_ptr());
  heads.example_stride = step_of(tensor, 0);
  heads.head_stride = step_of(tensor, 1);
  heads.row_stride = step_of(tensor, 2);
  const std::int64_t steps = heads.example_stride | heads.head_stride | heads.row_stride | tensor.sizes()[3];
  heads.has_pieces = steps * static_cast<std::int64_t>(tensor.itemsize()) % kPiece == 0 &&
                     reinterpret_cast<std::uintptr_t>(heads.data) % kPiece == 0;
  return heads;
}

AttentionMask::AttentionMask(const TensorBase& mask) {
  if (!mask.defined()) return;
  kind = mask.dtype() == kBool ? Kind::Bools : Kind::Numbers;
  data = static_cast<const char*>(mask.data_ptr());
  for (std::size_t d = 0; d < 4; ++d) strides[d] = step_of(mask, d);
}

AttentionLaunch::AttentionLaunch(const TensorBase& of_query, const TensorBase& of_key, const TensorBase& of_value,
                                 const TensorBase& of_mask, bool causal, double by)
    : query(attention_heads(of_query)),
      key(attention_heads(of_key)),
      value(attention_heads(of_value)),
      mask(of_mask),
      heads(static_cast<int>(of_query.sizes()[1])),
      shared_by(static_cast<int>(of_query.sizes()[1] / of_key.sizes()[1])),
      queries(static_cast<int>(of_query.sizes()[2])),
      keys(static_cast<int>(of_key.sizes()[2])),
      width(static_cast<int>(of_query.sizes()[3])),
      values(static_cast<int>(of_value.sizes()[3])),
      scale(static_cast<float>(by)),
      is_causal(causal),
      examples(of_query.sizes()[0]) {}

bool takes_attention(const TensorBase& query, const TensorBase& key, const TensorBase& value) {
  if (query.dtype() != kHalf && query.dtype() != kBFloat16) return false;
  if (query.numel() == 0 || key.numel() == 0 || value.numel() == 0) return false;
  if (query.sizes()[3] > kAttentionWidth || value.sizes()[3] > kAttentionWidth) return false;
  // Numbers of rows have 32 bits, those a tile further on too; and so do those of blocks.
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max() - 2 * kAttentionRows;
  const std::int64_t queries = query.sizes()[2], keys = key.sizes()[2];
  if (queries > kMost || keys > kMost) return false;
  const std::int64_t longer = queries > keys ? queries : keys;
  const std::int64_t tiles = (longer - 1) / kAttentionRows + 1;
  return query.sizes()[0] <= kMost / query.sizes()[1] / tiles;
}

}  // namespace keyway::inline v1::cuda
