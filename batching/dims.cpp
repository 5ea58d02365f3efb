// Rules of operators along dimensions that arguments name, and of those on the last two dimensions.
#include <keyway/batching/batched_tensor.h>
#include <keyway/batching/shift.h>
#include <keyway/dispatch/call/call.h>

#include <optional>

namespace keyway::inline v1::batching {
namespace {

// The rank of the examples' tensors; none if they differ, as those of cat may.
std::optional<std::int64_t> common_rank(VmapCall& call) {
  std::optional<std::int64_t> rank;
  bool differs = false;
  for_each_tensor(call.stack, [&](const TensorBase& tensor) {
    differs = differs || (rank && *rank != tensor.dim());
    rank = tensor.dim();
  });
  return differs ? std::nullopt : rank;
}

void take_for_all(VmapCall& call) {
  update_tensors(call.stack, [&](TensorBase& tensor) { tensor = expand_to_batch(tensor, call.level); });
}

// Shifts the arguments that name dimensions of tensors of that rank, and calls. False if there is nothing to shift
// where an example's tensor has no last dimension, or a dimension is out of range.
bool call_shifted(VmapCall& call, std::int64_t rank, bool has_last) {
  bool has_dims = false;
  std::size_t i = 0;
  for (const Argument argument : call.op.schema().arguments()) {
    IValue& value = call.stack[i++];
    if (!names_dimensions(argument.name())) continue;
    if (!shift(value, rank)) return false;
    has_dims = true;
  }
  if (!has_dims && !has_last) return false;
  take_for_all(call);
  return call_op(call);
}

}  // namespace

bool dims(VmapCall& call) {
  const std::optional<std::int64_t> rank = common_rank(call);
  return rank && call_shifted(call, *rank, *rank > 0);
}

bool new_dim(VmapCall& call) {
  const std::optional<std::int64_t> rank = common_rank(call);
  return rank && call_shifted(call, *rank + 1, false);
}

bool matrices(VmapCall& call) {
  const std::optional<std::int64_t> rank = common_rank(call);
  if (!rank || *rank < 2) return false;
  take_for_all(call);
  return call_op(call);
}

}  // namespace keyway::inline v1::batching
