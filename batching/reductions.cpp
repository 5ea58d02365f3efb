// Rules of reductions, along some dimensions and of all elements.
#include <keyway/batching/shift.h>

#include <algorithm>
#include <utility>

namespace keyway::inline v1::batching {

bool reduction(VmapCall& call) {
  const std::optional<TensorBase> value = batched_self(call);
  const std::int64_t rank = value ? value->dim() - 1 : 0;
  const ArgumentList arguments = call.op.schema().arguments();
  const auto named =
      std::ranges::find_if(arguments, [](const Argument& argument) { return names_dimensions(argument.name()); });
  if (rank == 0 || named == arguments.end()) return false;
  IValue& dims = call[(*named).name()];
  if (dims.is_none() || (dims.is(ValueTag::IntList) && dims.to_int_list().empty())) {
    SchemaType type = (*named).type();
    if (type.is(TypeKind::Optional)) type = type.element();
    if (!type.is(TypeKind::List)) return false;
    dims = dims_from(1, rank);
  } else if (!shift(dims, rank)) {
    return false;
  }
  return call_with_self(call, *value);
}

bool whole_reduction(VmapCall& call) {
  const std::optional<TensorBase> self = batched_self(call);
  if (!self || self->dim() == 1) return false;
  const OperatorEntry& along_dims = *call.op.info().counterpart;
  const Tensor flat = Tensor(*self).reshape({call.level.batch_size(), -1});
  SchemaType dim = along_dims.schema().arguments()[1].type();
  if (dim.is(TypeKind::Optional)) dim = dim.element();
  Stack arguments{flat, dim.is(TypeKind::List) ? IValue(Ints{1}) : IValue(1), IValue(false)};
  arguments.insert(arguments.end(), call.stack.begin() + 1, call.stack.end());
  return call_counterpart(call, std::move(arguments));
}

}  // namespace keyway::inline v1::batching
