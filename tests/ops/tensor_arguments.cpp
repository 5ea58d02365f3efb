#include <keyway/core/keys/thread_state.h>
#include <keyway/core/schema/schema.h>
#include <keyway/ops/all.h>
#include <keyway/tests/ops/tensor_arguments.h>

namespace keyway::inline v1::testing {

std::vector<Slot> slots_of(const Stack& stack) {
  std::vector<Slot> slots;
  for (std::size_t i = 0; i < stack.size(); ++i) {
    if (stack[i].is_tensor() && stack[i].to_tensor().defined()) slots.push_back({i, 0});
    if (!stack[i].is(ValueTag::TensorList)) continue;
    const auto& list = stack[i].to_tensor_list();
    for (std::size_t k = 0; k < list.size(); ++k) {
      if (list[k].defined()) slots.push_back({i, k});
    }
  }
  return slots;
}

Tensor tensor_at(const Stack& stack, Slot slot) {
  const IValue& value = stack[slot.argument];
  return Tensor(value.is_tensor() ? value.to_tensor() : value.to_tensor_list()[slot.item]);
}

Stack with_tensor(const Stack& stack, Slot slot, const Tensor& tensor) {
  Stack result = stack;
  if (stack[slot.argument].is_tensor()) {
    result[slot.argument] = IValue(TensorBase(tensor));
    return result;
  }
  std::vector<TensorBase> list = stack[slot.argument].to_tensor_list();
  list[slot.item] = tensor;
  result[slot.argument] = IValue(std::move(list));
  return result;
}

Stack map_tensors(const Stack& stack, const std::function<Tensor(const Tensor&)>& change) {
  Stack result = stack;
  for (const Slot slot : slots_of(stack)) result = with_tensor(result, slot, change(tensor_at(stack, slot)));
  return result;
}

std::vector<Tensor> tensors_in(const Stack& stack) {
  std::vector<Tensor> tensors;
  for (const IValue& value : stack) {
    if (value.is_tensor()) tensors.emplace_back(value.to_tensor());
    if (!value.is(ValueTag::TensorList)) continue;
    for (const TensorBase& tensor : value.to_tensor_list()) tensors.emplace_back(tensor);
  }
  return tensors;
}

Tensor laid(const Tensor& tensor, Lay lay) {
  const NoGradGuard no_grad;
  DimVector strides(tensor.sizes().size());
  std::int64_t next = 1;
  for (std::size_t i = 0; i < strides.size(); ++i) {
    const std::size_t d = lay == Lay::Transposed ? i : strides.size() - 1 - i;
    if (lay == Lay::Strided && i == 0) next = 2;
    strides[d] = next;
    next *= std::max<std::int64_t>(tensor.size(static_cast<std::int64_t>(d)), 1);
  }
  const std::int64_t offset = lay == Lay::Strided ? 3 : 0;
  const Tensor memory = keyway::zeros({next + offset}, tensor.options());  // as_strided reads what lies between, too
  Tensor result(make_view(memory, tensor.sizes(), strides, offset));
  if (!tensor.is_meta()) result.copy_(tensor);
  return result;
}

Tensor expanded(const Tensor& tensor, std::int64_t dim) {
  const NoGradGuard no_grad;
  return tensor.narrow(dim, 0, 1).contiguous().expand(tensor.sizes());
}

Tensor on_meta(const Tensor& tensor) {
  return Tensor(make_tensor_strided(tensor.sizes(), tensor.strides(), tensor.dtype(), Device(DeviceType::Meta)));
}

Stack on_meta(const FunctionSchema& schema, const Stack& stack) {
  Stack result = map_tensors(stack, [](const Tensor& tensor) { return on_meta(tensor); });
  for (std::size_t i = 0; i < result.size() && i < schema.arguments().size(); ++i) {
    const SchemaType type = schema.arguments()[i].type();
    if (type.is(TypeKind::Device) || (type.is(TypeKind::Optional) && type.element().is(TypeKind::Device))) {
      result[i] = IValue(Device(DeviceType::Meta));
    }
  }
  return result;
}

}  // namespace keyway::inline v1::testing
