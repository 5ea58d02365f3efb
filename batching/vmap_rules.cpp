#include <keyway/batching/batched_tensor.h>
#include <keyway/batching/vmap_rules.h>
#include <keyway/core/schema/rule_table.h>

namespace keyway::inline v1::batching {

TensorBase expand_to_batch(const TensorBase& tensor, const VmapLevel& level) {
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

bool call_op(VmapCall& call) {
  call_boxed(call.op, call.stack);
  return true;
}

namespace {

constexpr RuleRow<VmapRule> kFunctions[] = {
    {"each", nullptr},
    {"pointwise", pointwise},
    {"dims", dims},
    {"new_dim", new_dim},
    {"shape", shape},
    {"expand", expand},
    {"permute", permute},
    {"squeeze", squeeze},
    {"as_strided", as_strided},
    {"inplace_view", nullptr},  // changed before there is a call (change_view)
    {"reduction", reduction},
    {"whole_reduction", whole_reduction},
    {"matrices", matrices},
    {"images", images},
    {"index", index},
    {"index_put", index_put},
    {"along_dim", along_dim},
    {"mm", mm},
    {"bmm", bmm},
    {"addmm", addmm},
    {"baddbmm", baddbmm},
    {"convolution", convolution},
    {"layer_norm", layer_norm},
    {"batch_norm", batch_norm},
    {"pad", pad},
    {"pad_backward", pad_backward},
    {"embedding", embedding},
    {"class_loss", class_loss},
    {"attention", attention},
};
static_assert(has_a_row_for_each_rule<kFunctions, kVmapRules>());

}  // namespace

VmapRule rule_of(const OperatorEntry& op) { return kFunctions[op.info().vmap].function; }

}  // namespace keyway::inline v1::batching
