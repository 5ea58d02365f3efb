// Boxing: between a canonical signature and a stack of IValues, in both directions.
#pragma once

#include <keyway/dispatch/ivalue.h>
#include <keyway/dispatch/kernel.h>
#include <keyway/dispatch/signature.h>

#include <array>
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

// What a boxed call can get wrong. Each throws keyway::Error(Type).
[[noreturn]] KEYWAY_API KEYWAY_COLD void fail_arguments(std::size_t wanted, std::size_t have);
[[noreturn]] KEYWAY_API KEYWAY_COLD void fail_results(const OperatorEntry& op, std::size_t wanted, std::size_t have);
[[noreturn]] KEYWAY_API KEYWAY_COLD void fail_foreign_result(const OperatorEntry& op);

}  // namespace detail

// The boxed form of a typed kernel: what stands in a table beside its `fn`.
template <typename Sig>
struct BoxedAdapter;
template <typename R, typename... Args>
struct BoxedAdapter<R(Args...)> {
  static void call(const OperatorEntry&, const KernelBase& kernel, DispatchKeySet keys, Stack& stack) {
    if (stack.size() < sizeof...(Args)) detail::fail_arguments(sizeof...(Args), stack.size());
    call_with(kernel, keys, stack, stack.size() - sizeof...(Args), std::index_sequence_for<Args...>());
  }

 private:
  template <std::size_t... I>
  static void call_with(const KernelBase& kernel, DispatchKeySet keys, Stack& stack, std::size_t first,
                        std::index_sequence<I...>) {
    const auto call = [&]() -> R {
      return static_cast<const Kernel<R(Args...)>&>(kernel).fn(kernel, keys,
                                                               detail::Unboxer<Args>::get(stack[first + I])...);
    };
    const auto drop_arguments = [&] { stack.erase(stack.begin() + static_cast<std::ptrdiff_t>(first), stack.end()); };
    // Results may refer to arguments: they are boxed before those go.
    if constexpr (std::is_void_v<R>) {
      call();
      drop_arguments();
    } else if constexpr (detail::kIsTuple<R>) {
      auto boxed = std::apply(
          [](auto&&... each) {
            return std::array<IValue, sizeof...(each)>{detail::box(std::forward<decltype(each)>(each))...};
          },
          call());
      drop_arguments();
      for (IValue& result : boxed) stack.push_back(std::move(result));
    } else {
      IValue boxed = detail::box(call());
      drop_arguments();
      stack.push_back(std::move(boxed));
    }
  }
};

// A boxed kernel called with typed arguments. A result that is a reference is the argument that it is the same tensor
// as: of in-place and out= operators, one that the schema writes to.
template <typename Sig>
struct UnboxedAdapter;
template <typename R, typename... Args>
struct UnboxedAdapter<R(Args...)> {
  static R call(const OperatorEntry& op, const KernelBase& kernel, DispatchKeySet keys, Args... args) {
    Stack stack;
    stack.reserve(sizeof...(Args));
    (stack.push_back(detail::box(args)), ...);
    kernel.boxed(op, kernel, keys, stack);
    constexpr std::size_t results = detail::kResultCount<R>;
    if (stack.size() != results) detail::fail_results(op, results, stack.size());
    if constexpr (std::is_void_v<R>) {
      return;
    } else if constexpr (detail::kIsTuple<R>) {
      return [&]<std::size_t... I>(std::index_sequence<I...>) {
        return R{result<std::tuple_element_t<I, R>>(op, stack[I], args...)...};
      }
      (std::make_index_sequence<results>());
    } else {
      return result<R>(op, stack[0], args...);
    }
  }

 private:
  template <typename T>
  static T result(const OperatorEntry& op, IValue& value, Args&... args) {
    if constexpr (std::is_same_v<T, TensorBase&>) {
      TensorBase* found = nullptr;
      const auto look = [&](auto& arg) {
        if constexpr (std::is_same_v<decltype(arg), TensorBase&>) {
          if (found == nullptr && value.tensor_ref().is_same(arg)) found = &arg;
        }
      };
      (look(args), ...);
      if (found == nullptr) detail::fail_foreign_result(op);
      return *found;
    } else {
      return detail::unbox_result<T>(value);
    }
  }
};

}  // namespace keyway::inline v1
