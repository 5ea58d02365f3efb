// Boxing: between a canonical signature and a stack of IValues, in both directions.
#pragma once

#include <keyway/dispatch/ivalue.h>
#include <keyway/dispatch/kernel.h>
#include <keyway/dispatch/signature.h>

#include <cstddef>
#include <optional>
#include <tuple>
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
IValue box(const T& v) {
  if constexpr (std::is_same_v<T, ArrayRef<bool>>) {
    return IValue::bool_list(std::vector<char>(v.begin(), v.end()));
  } else if constexpr (requires { v.vec(); }) {
    return IValue(v.vec());
  } else {
    return IValue(v);
  }
}
inline IValue box(TensorBase&& v) { return IValue(std::move(v)); }
inline IValue box(const Generator& v) { return v.defined() ? IValue(v) : IValue(); }
template <typename T>
IValue box(const std::optional<T>& v) {
  return v ? box(*v) : IValue();
}

template <typename R>
void push_results(Stack& stack, R&& results) {
  if constexpr (requires { std::tuple_size<std::remove_cvref_t<R>>::value; }) {
    std::apply([&](auto&&... each) { (stack.push_back(box(std::forward<decltype(each)>(each))), ...); },
               std::forward<R>(results));
  } else {
    stack.push_back(box(std::forward<R>(results)));
  }
}

// Takes the results of type R off the stack.
template <typename R>
struct ResultTaker {
  static R take(Stack& stack) {
    if constexpr (std::is_same_v<R, std::vector<TensorBase>>) {
      return stack.back().to_tensor_list();
    } else if constexpr (std::is_same_v<R, TensorBase>) {
      return std::move(stack.back()).to_tensor();
    } else {
      return Unboxer<R>::get(stack.back());
    }
  }
};
template <typename... R>
struct ResultTaker<std::tuple<R...>> {
  static std::tuple<R...> take(Stack& stack) {
    const std::size_t first = stack.size() - sizeof...(R);
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return std::tuple<R...>(std::move(stack[first + I]).to_tensor()...);
    }
    (std::index_sequence_for<R...>());
  }
};

template <typename T>
inline constexpr bool kIsReferenceTuple = false;
template <typename... T>
inline constexpr bool kIsReferenceTuple<std::tuple<T&...>> = true;

}  // namespace detail

// The boxed form of a typed kernel: what stands in a table beside its `fn`.
template <typename Sig>
struct BoxedAdapter;
template <typename R, typename... Args>
struct BoxedAdapter<R(Args...)> {
  static void call(const OperatorEntry&, const KernelBase& kernel, DispatchKeySet keys, Stack& stack) {
    KEYWAY_CHECK_AS(Type, stack.size() >= sizeof...(Args),
                    "the call takes {} arguments, but {} are on the stack", sizeof...(Args), stack.size());
    const std::size_t first = stack.size() - sizeof...(Args);
    const auto fn = static_cast<const Kernel<R(Args...)>&>(kernel).fn;
    call_with(fn, kernel, keys, stack, first, std::index_sequence_for<Args...>());
  }

 private:
  template <typename Fn, std::size_t... I>
  static void call_with(Fn fn, const KernelBase& kernel, DispatchKeySet keys, Stack& stack, std::size_t first,
                        std::index_sequence<I...>) {
    if constexpr (std::is_void_v<R>) {
      fn(kernel, keys, detail::Unboxer<Args>::get(stack[first + I])...);
      stack.erase(stack.begin() + static_cast<std::ptrdiff_t>(first), stack.end());
    } else {
      // Results may refer to arguments: box them before the arguments go.
      Stack results;
      if constexpr (std::is_same_v<R, TensorBase>) {
        IValue result(fn(kernel, keys, detail::Unboxer<Args>::get(stack[first + I])...));
        stack.erase(stack.begin() + static_cast<std::ptrdiff_t>(first), stack.end());
        stack.push_back(std::move(result));
      } else {
        detail::push_results(results, fn(kernel, keys, detail::Unboxer<Args>::get(stack[first + I])...));
        stack.erase(stack.begin() + static_cast<std::ptrdiff_t>(first), stack.end());
        for (IValue& result : results) stack.push_back(std::move(result));
      }
    }
  }
};

// A boxed kernel called with typed arguments. A result that is a reference is the argument that the schema
// writes to: the last such ones for out=, the first for in-place.
template <typename Sig>
struct UnboxedAdapter;
template <typename R, typename... Args>
struct UnboxedAdapter<R(Args...)> {
  static R call(const OperatorEntry& op, const KernelBase& kernel, DispatchKeySet keys, Args... args) {
    Stack stack;
    stack.reserve(sizeof...(Args));
    (stack.push_back(detail::box(args)), ...);
    kernel.boxed(op, kernel, keys, stack);
    if constexpr (std::is_void_v<R>) {
      return;
    } else if constexpr (std::is_same_v<R, TensorBase&>) {
      return last_writable(args...);
    } else if constexpr (detail::kIsReferenceTuple<R>) {
      return writable_tuple(std::tuple<Args...>(args...));
    } else {
      return detail::ResultTaker<R>::take(stack);
    }
  }

 private:
  static TensorBase& last_writable(Args... args) {
    TensorBase* found = nullptr;
    const auto look = [&](auto& arg) {
      if constexpr (std::is_same_v<decltype(arg), TensorBase&>) found = &arg;
    };
    (look(args), ...);
    return *found;
  }
  static R writable_tuple(std::tuple<Args...> args) {
    constexpr std::size_t results = std::tuple_size_v<R>;
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return R(std::get<sizeof...(Args) - results + I>(args)...);
    }
    (std::make_index_sequence<results>());
  }
};

}  // namespace keyway::inline v1
