// Rules of views and of operators with a shape among their arguments.
#include <keyway/batching/shift.h>

#include <string_view>

namespace keyway::inline v1::batching {
namespace {

bool is_shape(std::string_view argument) { return argument == "size" || argument == "shape"; }

Ints with_front(std::int64_t front, const Ints& rest) {
  Ints all{front};
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

// Whether the elements of as_strided are among the example's own, which then lie apart from those of others.
bool lies_in_example(const VmapCall& call, const TensorBase& value) {
  const Ints& sizes = call["size"].to_int_list();
  const Ints& strides = call["stride"].to_int_list();
  const IValue& offset = call["storage_offset"];
  const std::int64_t first = offset.is_none() ? 0 : offset.to_int() - value.storage_offset();
  if (first < 0 || sizes.size() != strides.size()) return false;
  std::int64_t last = first;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] <= 0 || strides[i] < 0) return sizes[i] == 0;
    last += (sizes[i] - 1) * strides[i];
  }
  return value.size(0) == 1 || last < value.stride(0);
}

// Puts the batch in front of the arguments that are a shape, or the strides of one. Whether there are any.
bool add_batch_to_shape(VmapCall& call, const TensorBase& value) {
  std::size_t i = 0;
  bool has_shape = false;
  for (const Argument argument : call.op.schema().arguments()) {
    IValue& given = call.stack[i++];
    const bool is_stride = argument.name() == "stride";
    if (!given.is(ValueTag::IntList) || (!is_stride && !is_shape(argument.name()))) continue;
    given = with_front(is_stride ? value.stride(0) : call.level.batch_size(), given.to_int_list());
    has_shape = true;
  }
  return has_shape;
}

}  // namespace

bool shape(VmapCall& call) {
  const std::optional<TensorBase> value = batched_self(call);
  if (!value) return false;
  return add_batch_to_shape(call, *value) ? call_with_self(call, *value) : dims(call);
}

bool expand(VmapCall& call) {
  const std::optional<TensorBase> value = batched_self(call);
  if (!value) return false;
  const std::int64_t wanted = std::ssize(call["size"].to_int_list());
  add_batch_to_shape(call, *value);
  return call_with_self(call, wanted > value->dim() - 1 ? with_rank(*value, wanted) : *value);
}

bool permute(VmapCall& call) {
  const std::optional<TensorBase> value = batched_self(call);
  Ints order = call["dims"].to_int_list();
  if (!value || !shift(order, value->dim() - 1)) return false;
  call["dims"] = with_front(0, order);
  return call_with_self(call, *value);
}

bool squeeze(VmapCall& call) {
  const std::optional<TensorBase> self = batched_self(call);
  return self && call_counterpart(call, {*self, dims_from(1, self->dim() - 1)});
}

bool as_strided(VmapCall& call) {
  const std::optional<TensorBase> self = batched_self(call);
  return self && lies_in_example(call, *self) && shape(call);
}

}  // namespace keyway::inline v1::batching
