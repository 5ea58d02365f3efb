#include <keyway/batching/batched_tensor.h>
#include <keyway/batching/vmap_rules.h>
#include <keyway/ops/advanced_indexing_entries.h>
#include <keyway/ops/attention_entries.h>
#include <keyway/ops/convolution_entries.h>
#include <keyway/ops/indexing_entries.h>
#include <keyway/ops/linalg_entries.h>
#include <keyway/ops/loss_entries.h>
#include <keyway/ops/normalization_entries.h>
#include <keyway/ops/padding_entries.h>

#include <algorithm>

namespace keyway::inline v1::batching {
namespace {

// Of single operators.
struct Own {
  const OperatorEntry* op;
  Rule rule;
};
constexpr Own kOwn[] = {
    {&ops::_batch_norm_backward, batch_norm},
    {&ops::_batch_norm_forward, batch_norm},
    {&ops::_cross_entropy_forward, loss_of_classes},
    {&ops::_index, index},
    {&ops::_index_put, index_put},
    {&ops::_index_put_, index_put},
    {&ops::_pad_from_inside, pad_last},
    {&ops::_pad_from_inside_backward, pad_last_backward},
    {&ops::_scaled_dot_product_attention_backward, attention},
    {&ops::_scaled_dot_product_attention_forward, attention},
    {&ops::addmm, addmm},
    {&ops::baddbmm, baddbmm},
    {&ops::bmm, bmm},
    {&ops::constant_pad_nd, pad_last},
    {&ops::convolution, convolution},
    {&ops::embedding, embedding},
    {&ops::index_add, along_dim},
    {&ops::index_copy, along_dim},
    {&ops::index_select, along_dim},
    {&ops::mm, mm},
    {&ops::native_layer_norm, native_layer_norm},
    {&ops::nll_loss_forward, loss_of_classes},
};

}  // namespace

TensorBase for_all(const TensorBase& tensor, const Level& level) {
  if (const TensorBase* value = value_at(tensor, level)) return *value;
  std::vector<std::int64_t> sizes{level.batch_size()};
  sizes.insert(sizes.end(), tensor.sizes().begin(), tensor.sizes().end());
  return Tensor(tensor).expand(sizes);
}

TensorBase with_rank(const TensorBase& value, std::int64_t rank) {
  Tensor tensor(value);
  while (tensor.dim() <= rank) tensor = tensor.unsqueeze(1);
  return tensor;
}

Rule rule_of(const OperatorEntry& op) {
  switch (op.info().batch) {
    case BatchRule::Each: break;
    case BatchRule::Pointwise: return pointwise;
    case BatchRule::Dims: return dims;
    case BatchRule::Shape: return shape;
    case BatchRule::Reduction: return reduction;
    case BatchRule::Matrices: return matrices;
    case BatchRule::Windows: return windows;
  }
  const Own* own = std::ranges::find(kOwn, &op, &Own::op);
  return own != std::end(kOwn) ? own->rule : nullptr;
}

}  // namespace keyway::inline v1::batching
