#include <keyway/dispatch/call.h>

#include <keyway/core/schema/schema.h>

namespace keyway::inline v1 {

DispatchKeySet boxed_call_keys(const OperatorEntry& op, const Stack& stack) {
  const FunctionSchema& schema = op.schema();
  const std::size_t count = schema.arguments().size();
  KEYWAY_CHECK_AS(Type, stack.size() >= count, "{} takes {} arguments, but {} are on the stack", op.short_name(),
                  count, stack.size());
  DispatchKeySet keys;
  bool has_tensor_argument = false;
  std::optional<DeviceType> factory_device;
  const std::size_t first = stack.size() - count;
  for (std::size_t i = 0; i < count; ++i) {
    SchemaType type = schema.arguments()[i].type();
    while (type.is(TypeKind::Optional) || type.is(TypeKind::List)) type = type.element();
    const IValue& value = stack[first + i];
    if (type.is(TypeKind::Tensor)) {
      has_tensor_argument = true;
      if (value.is(ValueTag::Tensor)) {
        keys = keys | value.to_tensor().key_set();
      } else if (value.is(ValueTag::TensorList)) {
        keys = keys | detail::keys_of(ArrayRef<TensorBase>(value.to_tensor_list()));
      }
    } else if (type.is(TypeKind::Device) && !factory_device) {
      factory_device = value.is_none() ? DeviceType::CPU : value.to_device().type();
    }
  }
  if (!has_tensor_argument && factory_device) {
    keys = DispatchKeySet(*factory_device) | DispatchKeySet(Functionality::Dense) |
           DispatchKeySet(Functionality::BackendSelect);
  }
  const ThreadState& state = thread_state;
  return DispatchKeySet::from_raw((keys.raw() | state.included) & ~state.excluded);
}

void redispatch_boxed(const OperatorEntry& op, DispatchKeySet keys, Stack& stack) {
  const Table& table = op.table();
  const DispatchKeySet effective = table.effective(keys);
  const ErasedKernel& kernel = table.erased_kernel(table.slots[effective.slot()]);
  kernel.boxed(op, kernel, effective, stack);
}

void call_boxed(const OperatorEntry& op, Stack& stack) { redispatch_boxed(op, boxed_call_keys(op, stack), stack); }

}  // namespace keyway::inline v1
