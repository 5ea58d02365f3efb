// The tensors among boxed values.
#pragma once

#include <keyway/dispatch/call/ivalue.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace keyway::inline v1 {

// Whether `holds` is true of a defined tensor: of the value itself, in a list, or in a list of lists.
template <typename F>
bool any_tensor(const IValue& value, F&& holds) {
  const auto any_of_list = [&](const std::vector<TensorBase>& list) {
    return std::ranges::any_of(list, [&](const TensorBase& tensor) { return tensor.defined() && holds(tensor); });
  };
  if (value.is_tensor()) return value.tensor_ref().defined() && holds(value.tensor_ref());
  if (value.is(ValueTag::TensorList)) return any_of_list(value.to_tensor_list());
  return value.is(ValueTag::TensorListList) && std::ranges::any_of(value.to_tensor_lists(), any_of_list);
}

// Whether it is of one of several values.
template <typename F>
bool any_tensor_in(std::span<const IValue> values, F&& holds) {
  return std::ranges::any_of(values, [&](const IValue& value) { return any_tensor(value, holds); });
}

// Calls `visit` with each of these tensors.
template <typename F>
void for_each_tensor(std::span<const IValue> values, F&& visit) {
  any_tensor_in(values, [&](const TensorBase& tensor) {
    visit(tensor);
    return false;
  });
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
