#include <keyway/batching/batched_tensor.h>
#include <keyway/batching/vmap_rules.h>
#include <keyway/dispatch/call/call.h>
#include <keyway/ops/view.h>

#include <algorithm>

namespace keyway::inline v1::batching {
namespace {

// What of the tensors decides whether one call promotes dtypes as those of the examples do.
struct Operands {
  std::int64_t rank = 0;  // the greatest
  ScalarType dtype = ScalarType::Undefined;
  bool one_dtype = true;
  bool any_batched_scalar = false;
  bool all_batched_scalars = true;
};

Operands operands_of(VmapCall& call) {
  Operands all;
  for_each_tensor(call.stack, [&](const TensorBase& tensor) {
    const bool is_batched_scalar = tensor.dim() == 0 && value_at(tensor, call.level) != nullptr;
    all.rank = std::max(all.rank, tensor.dim());
    all.one_dtype = all.one_dtype && (all.dtype == ScalarType::Undefined || tensor.dtype() == all.dtype);
    all.dtype = tensor.dtype();
    all.any_batched_scalar = all.any_batched_scalar || is_batched_scalar;
    all.all_batched_scalars = all.all_batched_scalars && is_batched_scalar;
  });
  return all;
}

bool writes_to_lower_rank(const VmapCall& call, std::int64_t rank) {
  std::size_t i = 0;
  for (const Argument argument : call.op.schema().arguments()) {
    const IValue& value = call.stack[i++];
    if (argument.is_write() && value.is_tensor() && value.to_tensor().dim() < rank) return true;
  }
  return false;
}

}  // namespace

bool pointwise(VmapCall& call) {
  const Operands operands = operands_of(call);
  // A tensor without dimensions does not decide the common dtype, but with a batch it would.
  if (operands.any_batched_scalar && !operands.one_dtype && !operands.all_batched_scalars) return false;
  if (writes_to_lower_rank(call, operands.rank)) return false;
  update_tensors(call.stack, [&](TensorBase& tensor) {
    if (const TensorBase* value = value_at(tensor, call.level)) tensor = with_rank(*value, operands.rank);
  });
  return call_op(call);
}

}  // namespace keyway::inline v1::batching
