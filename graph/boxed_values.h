// Values of a graph in boxed calls: where a call has tensors, a graph has the numbers of values.
#pragma once

#include <keyway/core/base/error.h>
#include <keyway/core/schema/schema.h>
#include <keyway/dispatch/call/ivalue.h>
#include <keyway/dispatch/call/kernel.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace keyway::inline v1::graph {

// A tensor of a graph, by its number.
using ValueId = std::int64_t;
inline constexpr ValueId kNoValue = -1;  // an undefined tensor in a list

// Whether a value of that type holds tensors, by itself, in a list or in a list of lists.
KEYWAY_API bool is_of_tensors(SchemaType type);

// How a boxed value holds tensors: as themselves, or as numbers.
template <typename T>
struct BoxedItems;
template <>
struct BoxedItems<TensorBase> {
  static bool is_one(const IValue& value) { return value.is_tensor(); }
  static const TensorBase& one(const IValue& value) { return value.tensor_ref(); }
  static bool is_list(const IValue& value) { return value.is(ValueTag::TensorList); }
  static const std::vector<TensorBase>& list(const IValue& value) { return value.to_tensor_list(); }
  static const std::vector<std::vector<TensorBase>>& lists(const IValue& value) { return value.to_tensor_lists(); }
  static bool is_absent(const TensorBase& tensor) { return !tensor.defined(); }
  static constexpr auto kLists = detail::kTagOf<std::vector<std::vector<TensorBase>>>;
};
template <>
struct BoxedItems<ValueId> {
  static bool is_one(const IValue& value) { return value.is(ValueTag::Int); }
  static ValueId one(const IValue& value) { return value.to_int(); }
  static bool is_list(const IValue& value) { return value.is(ValueTag::IntList); }
  static const std::vector<ValueId>& list(const IValue& value) { return value.to_int_list(); }
  static ArrayRef<std::vector<ValueId>> lists(const IValue& value) { return value.to_list_of<std::vector<ValueId>>(); }
  static bool is_absent(ValueId id) { return id == kNoValue; }
  static constexpr auto kLists = detail::kTagOf<std::vector<std::vector<ValueId>>>;
};

// Whether the value of an argument stands for tensors. Most are told by their tags, which takes less than a look at the
// schema.
template <typename Item>
bool has_items(const Argument& argument, const IValue& value) {
  using Items = BoxedItems<Item>;
  return (Items::is_one(value) || Items::is_list(value) || value.is(Items::kLists)) && is_of_tensors(argument.type());
}

// The walk over what stands for tensors in a boxed value, that of an argument: visit(item) for each. One that is absent
// by itself is left out, in a list it is visited.
template <typename Item, typename F>
void for_each_item(Argument argument, const IValue& value, F&& visit) {
  using Items = BoxedItems<Item>;
  if (!has_items<Item>(argument, value)) return;
  if (Items::is_one(value)) {
    if (!Items::is_absent(Items::one(value))) visit(Items::one(value));
  } else if (Items::is_list(value)) {
    for (const Item& item : Items::list(value)) visit(item);
  } else {
    for (const std::vector<Item>& list : Items::lists(value))
      for (const Item& item : list) visit(item);
  }
}
template <typename Item, typename F>
void for_each_item(const ArgumentList& arguments, const Stack& values, F&& visit) {
  for (std::size_t i = 0; i < values.size(); ++i) for_each_item<Item>(arguments[i], values[i], visit);
}

// The values with change(item) in the place of each item; None for one by itself that is absent then.
template <typename From, typename To, typename F>
Stack with_items(const ArgumentList& arguments, Stack values, F&& change) {
  using Items = BoxedItems<From>;
  const auto changed_list = [&](const std::vector<From>& list) {
    std::vector<To> items;
    items.reserve(list.size());
    for (const From& item : list) items.push_back(To(change(item)));
    return items;
  };
  for (std::size_t i = 0; i < values.size(); ++i) {
    IValue& value = values[i];
    if (!has_items<From>(arguments[i], value)) continue;
    if (Items::is_one(value)) {
      To item(change(Items::one(value)));
      value = BoxedItems<To>::is_absent(item) ? IValue() : IValue(std::move(item));
    } else if (Items::is_list(value)) {
      value = IValue(changed_list(Items::list(value)));
    } else {
      std::vector<std::vector<To>> lists;
      for (const std::vector<From>& list : Items::lists(value)) lists.push_back(changed_list(list));
      value = IValue(std::move(lists));
    }
  }
  return values;
}

// Calls visit(id) for each tensor of the values; kNoValue for one that is absent from a list.
template <typename F>
void for_each_value(const ArgumentList& arguments, const Stack& values, F&& visit) {
  for_each_item<ValueId>(arguments, values, visit);
}

// The numbers that for_each_value visits.
inline std::vector<ValueId> values_of(const ArgumentList& arguments, const Stack& values) {
  std::vector<ValueId> ids;
  for_each_value(arguments, values, [&](ValueId id) { ids.push_back(id); });
  return ids;
}

// The values with another number for each tensor: what `change` makes of it.
template <typename F>
Stack with_values(const ArgumentList& arguments, Stack values, F&& change) {
  return with_items<ValueId, ValueId>(arguments, std::move(values), change);
}

// The arguments of a call with tensor_of(id) for each number of a tensor; an undefined one for kNoValue.
template <typename TensorOf>
Stack with_tensors(const ArgumentList& arguments, const Stack& numbered, TensorOf&& tensor_of) {
  return with_items<ValueId, TensorBase>(
      arguments, numbered, [&](ValueId id) { return id == kNoValue ? TensorBase() : TensorBase(tensor_of(id)); });
}

// The inverse: number_of(tensor) for each tensor; kNoValue, or None, for an undefined one.
template <typename NumberOf>
Stack with_numbers(const ArgumentList& arguments, const Stack& values, NumberOf&& number_of) {
  return with_items<TensorBase, ValueId>(arguments, values, [&](const TensorBase& tensor) {
    return tensor.defined() ? ValueId{number_of(tensor)} : kNoValue;
  });
}

// Calls take(id, tensor) for each tensor that a call gave. Throws keyway::Error(Value) if it gave other ones than in
// the capture.
template <typename Take>
void take_results(const ArgumentList& returns, const Stack& numbered, const Stack& results, Take&& take) {
  const std::vector<ValueId> ids = values_of(returns, numbered);
  std::size_t count = 0;
  for_each_item<TensorBase>(returns, results, [&](const TensorBase& tensor) {
    if (count < ids.size() && ids[count] != kNoValue) take(ids[count], tensor);
    ++count;
  });
  KEYWAY_CHECK(ids.size() == count, "the call gives {} tensors, but gave {} in the capture", count, ids.size());
}

}  // namespace keyway::inline v1::graph
