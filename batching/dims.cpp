#include <keyway/batching/batched_tensor.h>
#include <keyway/batching/vmap_rules.h>
#include <keyway/dispatch/call/call.h>
#include <keyway/ops/reduction_entries.h>
#include <keyway/ops/view_entries.h>

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

// as_strided(self, size, stride, storage_offset): whether each example's elements are among its own, which then lie
// apart from those of others.
bool lies_in_example(const Stack& arguments, const TensorBase& value) {
  const std::vector<std::int64_t>& sizes = arguments[1].to_int_list();
  const std::vector<std::int64_t>& strides = arguments[2].to_int_list();
  const std::int64_t first = arguments[3].is_none() ? 0 : arguments[3].to_int() - value.storage_offset();
  if (first < 0 || sizes.size() != strides.size()) return false;
  std::int64_t last = first;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] <= 0 || strides[i] < 0) return sizes[i] == 0;
    last += (sizes[i] - 1) * strides[i];
  }
  return value.size(0) == 1 || last < value.stride(0);
}

// `self` of a call that has only that tensor; null if that one is not of the batch.
const TensorBase* only_value(Call& call) { return value_at(call.stack[0].tensor_ref(), call.level); }

bool call_on(const OperatorEntry& op, Call& call, Stack arguments) {
  call_boxed(op, arguments);
  call.stack = std::move(arguments);
  return true;
}

}  // namespace

bool dims(Call& call) {
  const std::optional<std::int64_t> common = common_rank(call);
  if (!common) return false;
  const std::int64_t rank = *common + (&call.op == &ops::unsqueeze ? 1 : 0);
  bool has_dims = false;
  std::size_t i = 0;
  for (const Argument argument : call.op.schema().arguments()) {
    IValue& value = call.stack[i++];
    if (!names_dimensions(argument.name())) continue;
    if (!shift(value, rank)) return false;
    has_dims = true;
  }
  // Without dimensions to name, an example's tensor has no last one.
  if (!has_dims && *common == 0) return false;
  take_for_all(call);
  call_boxed(call.op, call.stack);
  return true;
}

bool shape(Call& call) {
  const TensorBase* self = only_value(call);
  if (self == nullptr) return false;
  const TensorBase value = *self;
  const std::int64_t rank = value.dim() - 1;
  Stack& arguments = call.stack;
  if (&call.op == &ops::squeeze) return call_on(ops::squeeze_dims, call, {value, dims_from(1, rank)});
  if (&call.op == &ops::permute) {
    Ints order = arguments[1].to_int_list();
    if (!shift(order, rank)) return false;
    return call_on(call.op, call, {value, with_front(0, order)});
  }
  if (&call.op == &ops::as_strided && !lies_in_example(arguments, value)) return false;
  std::size_t i = 0;
  bool has_shape = false;
  for (const Argument argument : call.op.schema().arguments()) {
    IValue& given = arguments[i++];
    if (!given.is(ValueTag::IntList)) continue;
    const bool is_stride = argument.name() == "stride";
    if (!is_stride && !is_shape(argument.name())) continue;
    given = with_front(is_stride ? value.stride(0) : call.level.batch_size(), given.to_int_list());
    has_shape = true;
  }
  if (!has_shape) return dims(call);
  const auto asked = static_cast<std::int64_t>(arguments[1].to_int_list().size()) - 1;
  const bool pads = &call.op == &ops::expand && asked > rank;
  arguments[0] = pads ? with_rank(value, asked) : value;
  call_boxed(call.op, arguments);
  return true;
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
  if (rank == 0) return false;
  const FunctionSchema& schema = call.op.schema();
  std::size_t place = 0;
  while (place < schema.arguments().size() && !names_dimensions(schema.arguments()[place].name())) ++place;
  // The overload that names its dimensions.
  if (place == schema.arguments().size()) {
    struct Named {
      const OperatorEntry* whole;
      const OperatorEntry* by_dimension;
      bool takes_list;
    };
    static constexpr Named kNamed[] = {{&ops::all, &ops::all_dim, false},
                                       {&ops::any, &ops::any_dim, false},
                                       {&ops::mean, &ops::mean_dim, true},
                                       {&ops::prod, &ops::prod_dim_int, false},
                                       {&ops::sum, &ops::sum_dim_IntList, true}};
    const auto* named = std::ranges::find(kNamed, &call.op, &Named::whole);
    if (named == std::end(kNamed)) return false;
    const Tensor flat = Tensor(value).reshape({call.level.batch_size(), -1});
    Stack arguments{flat, named->takes_list ? IValue(Ints{1}) : IValue(1), IValue(false)};
    arguments.insert(arguments.end(), call.stack.begin() + 1, call.stack.end());
    return call_on(*named->by_dimension, call, std::move(arguments));
  }
  IValue& dims = call.stack[place];
  if (dims.is_none() || (dims.is(ValueTag::IntList) && dims.to_int_list().empty())) {
    SchemaType type = schema.arguments()[place].type();
    if (type.is(TypeKind::Optional)) type = type.element();
    if (!type.is(TypeKind::List)) return false;
    dims = dims_from(1, rank);
  } else if (!shift(dims, rank)) {
    return false;
  }
  call.stack[0] = value;
  call_boxed(call.op, call.stack);
  return true;
}

}  // namespace keyway::inline v1::batching
