// The tensors among boxed values.
#pragma once

#include <keyway/dispatch/call/ivalue.h>

#include <span>
#include <utility>
#include <vector>

namespace keyway::inline v1 {

// Calls `visit` with each defined tensor, and with those in lists and in lists of lists.
template <typename F>
void for_each_tensor(std::span<IValue> values, F&& visit) {
  const auto visit_list = [&](const std::vector<TensorBase>& list) {
    for (const TensorBase& tensor : list)
      if (tensor.defined()) visit(tensor);
  };
  for (IValue& value : values) {
    if (value.is_tensor() && value.tensor_ref().defined()) visit(std::as_const(value.tensor_ref()));
    if (value.is(ValueTag::TensorList)) visit_list(value.to_tensor_list());
    if (!value.is(ValueTag::TensorListList)) continue;
    for (const std::vector<TensorBase>& list : value.to_tensor_lists()) visit_list(list);
  }
}

// Whether `holds` is true of one of them.
template <typename F>
bool any_tensor(const IValue& value, F&& holds) {
  const auto any_of_list = [&](const std::vector<TensorBase>& list) {
    for (const TensorBase& tensor : list)
      if (tensor.defined() && holds(tensor)) return true;
    return false;
  };
  if (value.is_tensor()) {
    const TensorBase tensor = value.to_tensor();
    return tensor.defined() && holds(tensor);
  }
  if (value.is(ValueTag::TensorList)) return any_of_list(value.to_tensor_list());
  if (!value.is(ValueTag::TensorListList)) return false;
  for (const std::vector<TensorBase>& list : value.to_tensor_lists())
    if (any_of_list(list)) return true;
  return false;
}

// Lets `change` put another tensor in the place of each. Values may be shared, so a list becomes one of its own.
template <typename F>
void update_tensors(std::span<IValue> values, F&& change) {
  const auto update_list = [&](std::vector<TensorBase>& list) {
    for (TensorBase& tensor : list)
      if (tensor.defined()) change(tensor);
  };
  for (IValue& value : values) {
    if (value.is_tensor() && value.tensor_ref().defined()) change(value.tensor_ref());
    if (value.is(ValueTag::TensorList)) {
      std::vector<TensorBase> list = value.to_tensor_list();
      update_list(list);
      value = IValue(std::move(list));
    } else if (value.is(ValueTag::TensorListList)) {
      std::vector<std::vector<TensorBase>> lists = value.to_tensor_lists();
      for (std::vector<TensorBase>& list : lists) update_list(list);
      value = IValue(std::move(lists));
    }
  }
}

}  // namespace keyway::inline v1
