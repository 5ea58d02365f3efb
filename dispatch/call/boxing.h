// Boxing: between the types of canonical signatures and IValues, in both directions.
#pragma once

#include <keyway/dispatch/call/ivalue.h>
#include <keyway/dispatch/call/signature.h>

#include <cstddef>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace keyway::inline v1 {

namespace detail {

// From a value on the stack to an argument. What it gives may refer to the value, which outlives the call.
template <typename T>
struct Unboxer;
template <>
struct Unboxer<const TensorBase&> {
  static const TensorBase& get(IValue& v) { return v.tensor_ref(); }
};
template <>
struct Unboxer<TensorBase&> {
  static TensorBase& get(IValue& v) { return v.tensor_ref(); }
};
template <>
struct Unboxer<ArrayRef<TensorBase>> {
  static ArrayRef<TensorBase> get(IValue& v) { return v.to_tensor_list(); }
};
template <>
struct Unboxer<std::int64_t> {
  static std::int64_t get(IValue& v) { return v.to_int(); }
};
template <>
struct Unboxer<double> {
  static double get(IValue& v) { return v.to_double(); }
};
template <>
struct Unboxer<bool> {
  static bool get(IValue& v) { return v.to_bool(); }
};
template <>
struct Unboxer<complex<double>> {
  static complex<double> get(IValue& v) { return v.to_complex(); }
};
template <>
struct Unboxer<Scalar> {
  static Scalar get(IValue& v) { return v.to_scalar(); }
};
template <>
struct Unboxer<const Scalar&> : Unboxer<Scalar> {};
template <>
struct Unboxer<std::string_view> {
  static std::string_view get(IValue& v) { return v.to_string_ref(); }
};
template <>
struct Unboxer<ScalarType> {
  static ScalarType get(IValue& v) { return v.to_scalar_type(); }
};
template <>
struct Unboxer<Layout> {
  static Layout get(IValue& v) { return v.to_layout(); }
};
template <>
struct Unboxer<MemoryFormat> {
  static MemoryFormat get(IValue& v) { return v.to_memory_format(); }
};
template <>
struct Unboxer<Device> {
  static Device get(IValue& v) { return v.to_device(); }
};
template <>
struct Unboxer<const Generator&> {
  static Generator get(IValue& v) { return v.is_none() ? Generator(nullptr) : v.to_generator(); }
};
template <>
struct Unboxer<ArrayRef<std::int64_t>> {
  static ArrayRef<std::int64_t> get(IValue& v) { return v.to_int_list(); }
};
template <>
struct Unboxer<ArrayRef<double>> {
  static ArrayRef<double> get(IValue& v) { return v.to_double_list(); }
};
template <>
struct Unboxer<ArrayRef<bool>> {
  static ArrayRef<bool> get(IValue& v) { return v.to_bool_list(); }
};
template <>
struct Unboxer<ArrayRef<Scalar>> {
  static ArrayRef<Scalar> get(IValue& v) { return v.to_scalar_list(); }
};
template <>
struct Unboxer<ArrayRef<std::string>> {
  static ArrayRef<std::string> get(IValue& v) { return v.to_string_list(); }
};
template <>
struct Unboxer<ArrayRef<ScalarType>> {
  static ArrayRef<ScalarType> get(IValue& v) { return v.to_scalar_type_list(); }
};
template <>
struct Unboxer<ArrayRef<std::optional<std::int64_t>>> {
  static ArrayRef<std::optional<std::int64_t>> get(IValue& v) { return v.to_optional_int_list(); }
};
template <>
struct Unboxer<ArrayRef<std::vector<std::int64_t>>> {
  static ArrayRef<std::vector<std::int64_t>> get(IValue& v) { return v.to_int_lists(); }
};
template <>
struct Unboxer<ArrayRef<std::vector<TensorBase>>> {
  static ArrayRef<std::vector<TensorBase>> get(IValue& v) { return v.to_tensor_lists(); }
};
template <typename T>
struct Unboxer<std::optional<T>> {
  static std::optional<T> get(IValue& v) {
    if (v.is_none()) return std::nullopt;
    return Unboxer<T>::get(v);
  }
};

// From an argument or a result to a value.
template <typename T>
IValue box(T&& v) {
  using V = std::remove_cvref_t<T>;
  if constexpr (std::is_same_v<V, ArrayRef<bool>> || std::is_same_v<V, std::vector<bool>>) {
    return IValue::bool_list(std::vector<char>(v.begin(), v.end()));
  } else if constexpr (std::is_same_v<V, Generator>) {
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
  } else if constexpr (std::is_same_v<R, std::vector<TensorBase>>) {
    return v.to_tensor_list();
  } else if constexpr (std::is_same_v<R, std::vector<std::int64_t>>) {
    return v.to_int_list();
  } else if constexpr (std::is_same_v<R, std::vector<double>>) {
    return v.to_double_list();
  } else if constexpr (std::is_same_v<R, std::vector<bool>>) {
    return v.to_bool_list().vec();
  } else if constexpr (std::is_same_v<R, std::vector<Scalar>>) {
    return v.to_scalar_list();
  } else if constexpr (std::is_same_v<R, std::vector<std::string>>) {
    return v.to_string_list();
  } else if constexpr (std::is_same_v<R, std::vector<ScalarType>>) {
    return v.to_scalar_type_list();
  } else if constexpr (std::is_same_v<R, std::vector<std::optional<std::int64_t>>>) {
    return v.to_optional_int_list();
  } else if constexpr (std::is_same_v<R, std::vector<std::vector<std::int64_t>>>) {
    return v.to_int_lists();
  } else if constexpr (std::is_same_v<R, std::vector<std::vector<TensorBase>>>) {
    return v.to_tensor_lists();
  } else if constexpr (std::is_same_v<R, std::string>) {
    return v.to_string_ref();
  } else if constexpr (std::is_same_v<R, Generator>) {
    return Unboxer<const Generator&>::get(v);
  } else if constexpr (requires { &R::has_value; }) {
    if (v.is_none()) return std::nullopt;
    return unbox_result<typename R::value_type>(v);
  } else {
    return Unboxer<R>::get(v);
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
