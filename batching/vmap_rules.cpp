#include <keyway/batching/batched_tensor.h>
#include <keyway/batching/vmap_rules.h>
#include <keyway/core/schema/transform_rules.h>

#include <iterator>

namespace keyway::inline v1::batching {

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

std::size_t Call::position_of(std::string_view argument) const {
  const std::optional<std::size_t> position = op.schema().arguments().find(argument);
  KEYWAY_CHECK_AS(Internal, position, "the rule of vmap reads an argument '{}', which the operator has not", argument);
  return *position;
}

Rule rule_of(const OperatorEntry& op) {
  // In the order of kVmapRules. In-place views are changed before there is a call (change_view).
  static constexpr Rule kFunctions[] = {nullptr,  pointwise,    dims,       new_dim,     shape,      expand,
                                        permute,  squeeze,      as_strided, nullptr,     reduction,  whole_reduction,
                                        matrices, images,       index,      index_put,   along_dim,  mm,
                                        bmm,      addmm,        baddbmm,    convolution, layer_norm, batch_norm,
                                        pad,      pad_backward, embedding,  class_loss,  attention};
  static_assert(std::size(kFunctions) == std::size(kVmapRules));
  return kFunctions[op.info().vmap];
}

}  // namespace keyway::inline v1::batching
