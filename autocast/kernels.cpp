#include <keyway/autocast/autocast.h>
#include <keyway/autocast/kernels.h>
#include <keyway/core/dtype/promote_types.h>
#include <keyway/dispatch/call/boxed_tensors.h>
#include <keyway/dispatch/call/call.h>

#include <atomic>
#include <span>

namespace keyway::inline v1::autocast {
namespace {

constinit std::atomic<Cast> cast_in_use{nullptr};

// Whether a tensor is converted on devices of the type: if it is floating, but not float64.
bool is_eligible(const TensorBase& tensor, DeviceType device) {
  if (tensor.device().type() != device) return false;
  return is_floating_point(tensor.dtype()) && tensor.dtype() != ScalarType::Double;
}

std::span<IValue> arguments_of(const OperatorEntry& op, Stack& stack) {
  const std::size_t count = op.info().boxed.arguments;
  if (stack.size() < count) detail::fail_arguments(count, stack.size());
  return std::span(stack).last(count);
}

void convert_all(std::span<IValue> arguments, DeviceType device, ScalarType dtype) {
  const Cast to = cast_in_use.load(std::memory_order_acquire);
  update_tensors(arguments, [&](TensorBase& tensor) {
    if (is_eligible(tensor, device) && tensor.dtype() != dtype) tensor = to(tensor, dtype);
  });
}

// The argument `dtype` of an operator that has one which may be left out; else null.
IValue* dtype_argument(const OperatorEntry& op, std::span<IValue> arguments) {
  std::size_t i = 0;
  for (const Argument argument : op.schema().arguments()) {
    const SchemaType type = argument.type();
    if (argument.name() == "dtype" && type.is(TypeKind::Optional) && type.element().is(TypeKind::ScalarType))
      return &arguments[i];
    ++i;
  }
  return nullptr;
}

// The dtype that all eligible tensors are promoted to; Undefined if there are none.
ScalarType widest(std::span<IValue> arguments, DeviceType device) {
  ScalarType dtype = ScalarType::Undefined;
  for_each_tensor(arguments, [&](const TensorBase& tensor) {
    if (!is_eligible(tensor, device)) return;
    dtype = dtype == ScalarType::Undefined ? tensor.dtype() : promote_types(dtype, tensor.dtype());
  });
  return dtype;
}

// The rest of a call whose arguments may be converted by `prepare(arguments, device)`.
template <typename F>
void run(const OperatorEntry& op, DispatchKeySet keys, Stack& stack, F&& prepare) {
  const ExcludeDispatchKeyGuard no_autocast{DispatchKeySet(Functionality::Autocast)};
  const auto device = static_cast<DeviceType>(keys.highest_backend_number() - 1);
  if (is_autocast_enabled(device)) prepare(arguments_of(op, stack), device);
  redispatch_boxed(op, boxed_call_keys(op, stack) & kAfterAutocast, stack);
}

}  // namespace

void use_cast(Cast to) { cast_in_use.store(to, std::memory_order_release); }

void lower(const OperatorEntry& op, const KernelBase&, DispatchKeySet keys, Stack& stack) {
  run(op, keys, stack,
      [](std::span<IValue> arguments, DeviceType device) { convert_all(arguments, device, autocast_dtype(device)); });
}

void float32(const OperatorEntry& op, const KernelBase&, DispatchKeySet keys, Stack& stack) {
  run(op, keys, stack, [&](std::span<IValue> arguments, DeviceType device) {
    IValue* dtype = dtype_argument(op, arguments);
    if (dtype == nullptr) {
      convert_all(arguments, device, ScalarType::Float);
    } else if (dtype->is_none() && widest(arguments, device) != ScalarType::Undefined) {
      *dtype = IValue(ScalarType::Float);
    }
  });
}

void promote(const OperatorEntry& op, const KernelBase&, DispatchKeySet keys, Stack& stack) {
  run(op, keys, stack, [](std::span<IValue> arguments, DeviceType device) {
    const ScalarType dtype = widest(arguments, device);
    if (dtype != ScalarType::Undefined) convert_all(arguments, device, dtype);
  });
}

}  // namespace keyway::inline v1::autocast
