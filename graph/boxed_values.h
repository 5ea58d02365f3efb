// Values of a graph in boxed calls: tensors in the place of their numbers.
#pragma once

#include <keyway/graph/graph.h>

namespace keyway::inline v1::graph {

// The arguments of a call with tensor_of(id) for each number of a tensor; an undefined one for kNoValue.
template <typename TensorOf>
Stack with_tensors(const ArgumentList& arguments, const Stack& numbered, TensorOf&& tensor_of) {
  const auto list_of = [&](const std::vector<ValueId>& ids) {
    std::vector<TensorBase> list;
    for (const ValueId id : ids) list.push_back(id == kNoValue ? TensorBase() : TensorBase(tensor_of(id)));
    return list;
  };
  Stack values = numbered;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].is_none() || !is_of_tensors(arguments[i].type())) continue;
    if (values[i].is(ValueTag::Int)) {
      values[i] = IValue(TensorBase(tensor_of(values[i].to_int())));
    } else if (values[i].is(ValueTag::IntList)) {
      values[i] = IValue(list_of(values[i].to_int_list()));
    } else {
      std::vector<std::vector<TensorBase>> lists;
      for (const std::vector<ValueId>& list : values[i].to_list_of<std::vector<ValueId>>())
        lists.push_back(list_of(list));
      values[i] = IValue(std::move(lists));
    }
  }
  return values;
}

// The inverse: number_of(tensor) for each tensor; of an undefined one None.
template <typename NumberOf>
Stack with_numbers(const ArgumentList& arguments, const Stack& values, NumberOf&& number_of) {
  const auto list_of = [&](const std::vector<TensorBase>& tensors) {
    std::vector<ValueId> list;
    for (const TensorBase& tensor : tensors) list.push_back(tensor.defined() ? number_of(tensor) : kNoValue);
    return list;
  };
  Stack numbered = values;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].is_none() || !is_of_tensors(arguments[i].type())) continue;
    if (values[i].is_tensor()) {
      numbered[i] = values[i].tensor_ref().defined() ? IValue(number_of(values[i].tensor_ref())) : IValue();
    } else if (values[i].is(ValueTag::TensorList)) {
      numbered[i] = IValue(list_of(values[i].to_tensor_list()));
    } else {
      std::vector<std::vector<ValueId>> lists;
      for (const std::vector<TensorBase>& tensors : values[i].to_tensor_lists()) lists.push_back(list_of(tensors));
      numbered[i] = IValue(std::move(lists));
    }
  }
  return numbered;
}

// Calls take(id, tensor) for each tensor that a call gave. Throws keyway::Error(Value) if a list has other tensors than
// in the capture.
template <typename Take>
void take_results(const ArgumentList& returns, const Stack& numbered, const Stack& results, Take&& take) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (numbered[i].is_none() || !is_of_tensors(returns[i].type())) continue;
    if (numbered[i].is(ValueTag::Int)) {
      take(numbered[i].to_int(), results[i].to_tensor());
      continue;
    }
    const std::vector<ValueId>& ids = numbered[i].to_int_list();
    const std::vector<TensorBase>& tensors = results[i].to_tensor_list();
    KEYWAY_CHECK(ids.size() == tensors.size(), "the call gives {} tensors, but gave {} in the capture", tensors.size(),
                 ids.size());
    for (std::size_t j = 0; j < ids.size(); ++j) {
      if (ids[j] != kNoValue) take(ids[j], tensors[j]);
    }
  }
}

}  // namespace keyway::inline v1::graph
