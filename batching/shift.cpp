#include <keyway/batching/batched_tensor.h>
#include <keyway/batching/shift.h>
#include <keyway/dispatch/call/call.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace keyway::inline v1::batching {

bool names_dimensions(std::string_view argument) {
  constexpr std::array kNames{"dim", "dims", "dim0", "dim1", "dim2", "dimension"};
  return std::ranges::find(kNames, argument) != kNames.end();
}

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

Ints dims_from(std::int64_t first, std::int64_t count) {
  Ints dims(static_cast<std::size_t>(count));
  std::iota(dims.begin(), dims.end(), first);
  return dims;
}

std::optional<TensorBase> batched_self(const VmapCall& call) {
  const TensorBase self = call.tensor("self");
  const TensorBase* value = value_at(self, call.level);
  return value != nullptr ? std::optional(*value) : std::nullopt;
}

bool call_with_self(VmapCall& call, const TensorBase& self) {
  call["self"] = self;
  return call_op(call);
}

bool call_counterpart(VmapCall& call, Stack arguments) {
  call_boxed(*call.op.info().counterpart, arguments);
  call.stack = std::move(arguments);
  return true;
}

}  // namespace keyway::inline v1::batching
