// Adapters: a typed kernel called with a stack, and a boxed kernel called with typed arguments.
#pragma once

#include <keyway/dispatch/call/boxing.h>
#include <keyway/dispatch/call/kernel.h>
#include <keyway/dispatch/call/leave_op.h>

#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace keyway::inline v1 {

namespace detail {

// Throws keyway::Error(Type).
[[noreturn]] KEYWAY_API KEYWAY_COLD void fail_arguments(std::size_t wanted, std::size_t have);

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
    const auto enter = [&](Args... args) -> R {
      try {
        return static_cast<const Kernel<R(Args...)>&>(kernel).fn(kernel, keys, static_cast<Args>(args)...);
      } catch (...) {
        leave_op<Args...>(op, static_cast<Args>(args)...);
      }
    };
    const auto call = [&]() -> R { return enter(detail::unbox<Args>(stack[first + I])...); };
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

namespace detail {

// Calls the boxed kernel with the arguments at these addresses, and returns its results. Throws keyway::Error(Type) if
// there are not as many as the schema has.
KEYWAY_API Stack call_boxed_kernel(const OperatorEntry& op, const KernelBase& kernel, DispatchKeySet keys,
                                   const void* const* arguments);
// The argument that the schema writes to and that is the same tensor as `result`. Throws keyway::Error(Type) if there
// is none.
KEYWAY_API TensorBase& written_argument(const OperatorEntry& op, const void* const* arguments, const IValue& result);

// What a boxed kernel left, as the results R of a typed call: of in-place and out= operators, arguments. Moves
// `results` on behind them.
template <typename R>
struct BoxedResults {
  static R get(const OperatorEntry& op, const void* const* arguments, IValue*& results) {
    if constexpr (std::is_same_v<R, TensorBase&>) {
      return written_argument(op, arguments, *results++);
    } else if constexpr (!std::is_void_v<R>) {
      return unbox_result<R>(*results++);
    }
  }
};
template <typename... R>
struct BoxedResults<std::tuple<R...>> {
  static std::tuple<R...> get(const OperatorEntry& op, const void* const* arguments, IValue*& results) {
    return std::tuple<R...>{BoxedResults<R>::get(op, arguments, results)...};
  }
};

}  // namespace detail

}  // namespace keyway::inline v1
