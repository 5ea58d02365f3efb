// Boxing: between the types of canonical signatures and IValues, in both directions.
#pragma once

#include <keyway/dispatch/call/ivalue.h>
#include <keyway/dispatch/call/signature.h>

#include <cstddef>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace keyway::inline v1 {

namespace detail {

template <typename T>
inline constexpr bool kIsDict = false;
template <typename K, typename V>
inline constexpr bool kIsDict<Dict<K, V>> = true;

// From a value on the stack to an argument, or to what converts to it. What it gives may refer to the value, which
// outlives the call.
template <typename Argument>
decltype(auto) unbox(IValue& v) {
  using Value = ValueOfArgument<std::remove_cvref_t<Argument>>;
  if constexpr (std::is_same_v<Value, TensorBase>) {
    return v.tensor_ref();
  } else if constexpr (std::is_same_v<Value, std::int64_t>) {
    return v.to_int();
  } else if constexpr (std::is_same_v<Value, double>) {
    return v.to_double();
  } else if constexpr (std::is_same_v<Value, bool>) {
    return v.to_bool();
  } else if constexpr (std::is_same_v<Value, complex<double>>) {
    return v.to_complex();
  } else if constexpr (std::is_same_v<Value, Scalar>) {
    return v.to_scalar();
  } else if constexpr (std::is_same_v<Value, std::string>) {
    return std::string_view(v.to_string_ref());
  } else if constexpr (std::is_same_v<Value, ScalarType>) {
    return v.to_scalar_type();
  } else if constexpr (std::is_same_v<Value, Layout>) {
    return v.to_layout();
  } else if constexpr (std::is_same_v<Value, MemoryFormat>) {
    return v.to_memory_format();
  } else if constexpr (std::is_same_v<Value, Device>) {
    return v.to_device();
  } else if constexpr (std::is_same_v<Value, Generator>) {
    return v.is_none() ? Generator(nullptr) : v.to_generator();
  } else if constexpr (std::is_same_v<Value, CustomObject>) {
    return v.to_object();
  } else if constexpr (kIsDict<Value>) {
    return Value(v.to_dict());
  } else if constexpr (kIsVector<Value>) {
    return v.to_list_of<typename Value::value_type>();
  } else {
    static_assert(kIsOptional<Value>);
    using Arg = KernelArg<Value>;
    return v.is_none() ? Arg() : Arg(unbox<KernelArg<typename Value::value_type>>(v));
  }
}

// From an argument or a result to a value.
template <typename T>
IValue box(T&& v) {
  using V = std::remove_cvref_t<T>;
  if constexpr (std::is_same_v<V, Generator>) {
    return v.defined() ? IValue(std::forward<T>(v)) : IValue();
  } else if constexpr (requires { v.vec(); }) {
    return IValue(v.vec());
  } else if constexpr (requires { v.has_value(); }) {
    return v ? box(*std::forward<T>(v)) : IValue();
  } else {
    return IValue(std::forward<T>(v));
  }
}

// From a value to a result that is no reference.
template <typename R>
R unbox_result(IValue& v) {
  if constexpr (std::is_same_v<R, TensorBase>) {
    return std::move(v).to_tensor();
  } else if constexpr (kIsVector<R>) {
    return unbox<KernelArg<R>>(v).vec();
  } else if constexpr (kIsOptional<R>) {
    return v.is_none() ? R() : R(unbox_result<typename R::value_type>(v));
  } else {
    return R(unbox<KernelArg<R>>(v));
  }
}

template <typename R>
inline constexpr std::size_t kResultCount = 1;
template <>
inline constexpr std::size_t kResultCount<void> = 0;
template <typename... R>
inline constexpr std::size_t kResultCount<std::tuple<R...>> = sizeof...(R);
template <typename R>
inline constexpr bool kIsTuple = false;
template <typename... R>
inline constexpr bool kIsTuple<std::tuple<R...>> = true;

}  // namespace detail

}  // namespace keyway::inline v1
