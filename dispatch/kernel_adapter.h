// Adapters: a typed kernel called with a stack, and a boxed kernel called with typed arguments.
#pragma once

#include <keyway/dispatch/boxing.h>
#include <keyway/dispatch/kernel.h>
#include <keyway/dispatch/leave_op.h>

#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace keyway::inline v1 {

namespace detail {

// What a boxed call can get wrong. Each throws keyway::Error(Type).
[[noreturn]] KEYWAY_API KEYWAY_COLD void fail_arguments(std::size_t wanted, std::size_t have);
[[noreturn]] KEYWAY_API KEYWAY_COLD void fail_results(std::size_t wanted, std::size_t have);
[[noreturn]] KEYWAY_API KEYWAY_COLD void fail_foreign_result();

}  // namespace detail

// The boxed form of a typed kernel: what stands in a table beside its `fn`.
template <typename Sig>
struct BoxedAdapter;
template <typename R, typename... Args>
struct BoxedAdapter<R(Args...)> {
  static void call(const OperatorEntry& op, const KernelBase& kernel, DispatchKeySet keys, Stack& stack) {
    if (stack.size() < sizeof...(Args)) detail::fail_arguments(sizeof...(Args), stack.size());
    call_with(op, kernel, keys, stack, stack.size() - sizeof...(Args), std::index_sequence_for<Args...>());
  }

 private:
  template <std::size_t... I>
  static void call_with(const OperatorEntry& op, const KernelBase& kernel, DispatchKeySet keys, Stack& stack,
                        std::size_t first, std::index_sequence<I...>) {
    const auto call = [&]() -> R {
      return enter_op(op, static_cast<const Kernel<R(Args...)>&>(kernel), keys,
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
  static R call(const OperatorEntry& op, const KernelBase& kernel, DispatchKeySet keys, Args... args) try {
    Stack stack;
    stack.reserve(sizeof...(Args));
    (stack.push_back(detail::box(args)), ...);
    kernel.boxed(op, kernel, keys, stack);
    constexpr std::size_t results = detail::kResultCount<R>;
    if (stack.size() != results) detail::fail_results(results, stack.size());
    if constexpr (std::is_void_v<R>) {
      return;
    } else if constexpr (detail::kIsTuple<R>) {
      return [&]<std::size_t... I>(std::index_sequence<I...>) {
        return R{result<std::tuple_element_t<I, R>>(stack[I], args...)...};
      }
      (std::make_index_sequence<results>());
    } else {
      return result<R>(stack[0], args...);
    }
  } catch (...) {
    leave_op<Args...>(op, static_cast<Args>(args)...);
  }

 private:
  template <typename T>
  static T result(IValue& value, Args&... args) {
    if constexpr (std::is_same_v<T, TensorBase&>) {
      TensorBase* found = nullptr;
      const auto look = [&](auto& arg) {
        if constexpr (std::is_same_v<decltype(arg), TensorBase&>) {
          if (found == nullptr && value.tensor_ref().is_same(arg)) found = &arg;
        }
      };
      (look(args), ...);
      if (found == nullptr) detail::fail_foreign_result();
      return *found;
    } else {
      return detail::unbox_result<T>(value);
    }
  }
};

}  // namespace keyway::inline v1
