#include <keyway/batching/batched_tensor.h>
#include <keyway/batching/vmap_rules.h>
#include <keyway/dispatch/call/call.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <string_view>

namespace keyway::inline v1::batching {
namespace {

using Ints = std::vector<std::int64_t>;

bool names_dimensions(std::string_view argument) {
  constexpr std::array kNames{"dim", "dims", "dim0", "dim1", "dim2", "dimension"};
  return std::ranges::find(kNames, argument) != kNames.end();
}

bool is_shape(std::string_view argument) { return argument == "size" || argument == "shape"; }

// The rank of the examples' tensors; none if they differ, as those of cat may.
std::optional<std::int64_t> common_rank(Call& call) {
  std::optional<std::int64_t> rank;
  bool differs = false;
  for_each_tensor(call.stack, [&](const TensorBase& tensor) {
    differs = differs || (rank && *rank != tensor.dim());
    rank = tensor.dim();
  });
  return differs ? std::nullopt : rank;
}

void take_for_all(Call& call) {
  update_tensors(call.stack, [&](TensorBase& tensor) { tensor = for_all(tensor, call.level); });
}

// Dimensions of an example's tensor as those of all examples'. False if one is out of range.
bool shift(Ints& dims, std::int64_t rank) {
  for (std::int64_t& dim : dims) {
    if (dim < -rank || dim >= rank) return false;
    if (dim >= 0) ++dim;
  }
  return true;
}

bool shift(IValue& argument, std::int64_t rank) {
  if (argument.is(ValueTag::Int)) {
    Ints dims{argument.to_int()};
    if (!shift(dims, rank)) return false;
    argument = IValue(dims[0]);
  } else if (argument.is(ValueTag::IntList)) {
    Ints dims = argument.to_int_list();
    if (!shift(dims, rank)) return false;
    argument = IValue(std::move(dims));
  }
  return true;
}

Ints with_front(std::int64_t front, const Ints& rest) {
  Ints all{front};
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

Ints dims_from(std::int64_t first, std::int64_t count) {
  Ints dims(static_cast<std::size_t>(count));
  std::iota(dims.begin(), dims.end(), first);
  return dims;
}

// Whether the elements of as_strided are among the example's own, which then lie apart from those of others.
bool lies_in_example(const Call& call, const TensorBase& value) {
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

// `self` of a call that has only that tensor; null if that one is not of the batch.
const TensorBase* only_value(Call& call) { return value_at(call["self"].tensor_ref(), call.level); }

bool call_on(const OperatorEntry& op, Call& call, Stack arguments) {
  call_boxed(op, arguments);
  call.stack = std::move(arguments);
  return true;
}

// Shifts the arguments that name dimensions of tensors of that rank, and calls. False if there is nothing to shift
// where an example's tensor has no last dimension, or a dimension is out of range.
bool call_shifted(Call& call, std::int64_t rank, bool has_last) {
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
  call_boxed(call.op, call.stack);
  return true;
}

// Puts the batch in front of the arguments that are a shape, or the strides of one. Whether there are any.
bool add_batch_to_shape(Call& call, const TensorBase& value) {
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

bool call_of_self(Call& call, const TensorBase& self) {
  call["self"] = self;
  call_boxed(call.op, call.stack);
  return true;
}

}  // namespace

bool dims(Call& call) {
  const std::optional<std::int64_t> rank = common_rank(call);
  return rank && call_shifted(call, *rank, *rank > 0);
}

bool new_dim(Call& call) {
  const std::optional<std::int64_t> rank = common_rank(call);
  return rank && call_shifted(call, *rank + 1, false);
}

bool shape(Call& call) {
  const TensorBase* self = only_value(call);
  if (self == nullptr) return false;
  const TensorBase value = *self;
  return add_batch_to_shape(call, value) ? call_of_self(call, value) : dims(call);
}

bool expand(Call& call) {
  const TensorBase* self = only_value(call);
  if (self == nullptr) return false;
  const TensorBase value = *self;
  const auto wanted = static_cast<std::int64_t>(call["size"].to_int_list().size());
  add_batch_to_shape(call, value);
  return call_of_self(call, wanted > value.dim() - 1 ? with_rank(value, wanted) : value);
}

bool permute(Call& call) {
  const TensorBase* self = only_value(call);
  if (self == nullptr) return false;
  const TensorBase value = *self;
  Ints order = call["dims"].to_int_list();
  if (!shift(order, value.dim() - 1)) return false;
  call["dims"] = with_front(0, order);
  return call_of_self(call, value);
}

bool squeeze(Call& call) {
  const TensorBase* self = only_value(call);
  return self != nullptr && call_on(*call.op.info().counterpart, call, {*self, dims_from(1, self->dim() - 1)});
}

bool as_strided(Call& call) {
  const TensorBase* self = only_value(call);
  return self != nullptr && lies_in_example(call, *self) && shape(call);
}

bool matrices(Call& call) {
  const std::optional<std::int64_t> rank = common_rank(call);
  if (!rank || *rank < 2) return false;
  take_for_all(call);
  call_boxed(call.op, call.stack);
  return true;
}

bool reduction(Call& call) {
  const TensorBase* self = only_value(call);
  if (self == nullptr) return false;
  const TensorBase value = *self;
  const std::int64_t rank = value.dim() - 1;
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
  return call_of_self(call, value);
}

bool whole_reduction(Call& call) {
  const TensorBase* self = only_value(call);
  if (self == nullptr || self->dim() == 1) return false;
  const OperatorEntry& along_dims = *call.op.info().counterpart;
  const Tensor flat = Tensor(*self).reshape({call.level.batch_size(), -1});
  SchemaType dim = along_dims.schema().arguments()[1].type();
  if (dim.is(TypeKind::Optional)) dim = dim.element();
  Stack arguments{flat, dim.is(TypeKind::List) ? IValue(Ints{1}) : IValue(1), IValue(false)};
  arguments.insert(arguments.end(), call.stack.begin() + 1, call.stack.end());
  return call_on(along_dims, call, std::move(arguments));
}

}  // namespace keyway::inline v1::batching
