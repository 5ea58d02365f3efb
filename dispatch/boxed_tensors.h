// The tensors among boxed values.
#pragma once

#include <keyway/dispatch/ivalue.h>

#include <span>
#include <utility>
#include <vector>

namespace keyway::inline v1 {

// Calls `visit` with each defined tensor, and with those in lists.
template <typename F>
void for_each_tensor(std::span<IValue> values, F&& visit) {
  for (IValue& value : values) {
    if (value.is_tensor() && value.tensor_ref().defined()) visit(std::as_const(value.tensor_ref()));
    if (!value.is(ValueTag::TensorList)) continue;
    for (const TensorBase& tensor : value.to_tensor_list())
      if (tensor.defined()) visit(tensor);
  }
}

// Lets `change` put another tensor in the place of each. Values may be shared, so a list becomes one of its own.
template <typename F>
void update_tensors(std::span<IValue> values, F&& change) {
  for (IValue& value : values) {
    if (value.is_tensor() && value.tensor_ref().defined()) change(value.tensor_ref());
    if (!value.is(ValueTag::TensorList)) continue;
    std::vector<TensorBase> list = value.to_tensor_list();
    for (TensorBase& tensor : list)
      if (tensor.defined()) change(tensor);
    value = IValue(std::move(list));
  }
}

}  // namespace keyway::inline v1
