// The call path: from arguments to the kernel. No lookup by name, no lock, no write to shared memory, no
// allocation.
#pragma once

#include <keyway/core/keys/thread_state.h>
#include <keyway/dispatch/call/in_flight_calls.h>
#include <keyway/dispatch/call/kernel.h>
#include <keyway/dispatch/call/kernel_adapter.h>
#include <keyway/dispatch/call/leave_op.h>
#include <keyway/dispatch/call/lost_gradient.h>
#include <keyway/dispatch/call/operator_entry.h>
#include <keyway/dispatch/call/signature.h>

#include <optional>

namespace keyway::inline v1 {

namespace detail {

inline DispatchKeySet keys_of(const TensorBase& tensor) { return tensor.key_set(); }
inline DispatchKeySet keys_of(ArrayRef<TensorBase> tensors) {
  DispatchKeySet keys;
  for (const TensorBase& tensor : tensors) keys = keys | tensor.key_set();
  return keys;
}
inline DispatchKeySet keys_of(ArrayRef<std::vector<TensorBase>> lists) {
  DispatchKeySet keys;
  for (const std::vector<TensorBase>& tensors : lists) keys = keys | keys_of(ArrayRef<TensorBase>(tensors));
  return keys;
}
template <typename T>
DispatchKeySet keys_of(const T&) {
  return {};
}
template <typename T>
requires carries_keys<T> DispatchKeySet keys_of(const std::optional<T>& tensors) {
  return tensors ? keys_of(*tensors) : DispatchKeySet();
}

template <typename T>
inline constexpr bool kNamesDevice = std::is_same_v<T, Device> || std::is_same_v<T, std::optional<Device>>;

// The first device among arguments that have one.
template <typename First, typename... Rest>
DeviceType device_among(const First& first, const Rest&... rest) {
  if constexpr (std::is_same_v<First, Device>) {
    return first.type();
  } else if constexpr (std::is_same_v<First, std::optional<Device>>) {
    return first ? first->type() : DeviceType::CPU;
  } else {
    return device_among(rest...);
  }
}
inline DispatchKeySet with_thread_keys(DispatchKeySet keys) {
  const ThreadState& state = thread_state;
  return DispatchKeySet::from_raw((keys.raw() | state.included) & ~state.excluded);
}
// What a factory's call carries besides the thread's keys.
inline DispatchKeySet factory_keys(DeviceType device) {
  return DispatchKeySet(device) | DispatchKeySet(Functionality::Dense) | DispatchKeySet(Functionality::BackendSelect);
}

}  // namespace detail

// The keys of a call, before the operator's mask: those of its tensors and of the thread. A factory, which
// has no tensor argument, takes the backend of its `device` argument (the CPU if absent) and passes
// BackendSelect.
template <typename... Args>
inline DispatchKeySet call_keys(const std::remove_reference_t<Args>&... args) {
  DispatchKeySet keys;
  if constexpr ((carries_keys<Args> || ...)) {
    keys = (detail::keys_of(args) | ... | DispatchKeySet());
  } else if constexpr ((detail::kNamesDevice<Args> || ...)) {
    keys = detail::factory_keys(detail::device_among(args...));
  }
  return detail::with_thread_keys(keys);
}

// Calls the kernel that `keys` resolve to. Requires: Sig is the operator's canonical signature.
template <typename Sig>
struct Caller;
template <typename R, typename... Args>
struct Caller<R(Args...)> {
  using Sig = R(Args...);

  static R call(const OperatorEntry& op, Args... args) {
    if constexpr ((carries_keys<Args> || ...)) {  // as call_keys, which would be one more instantiation a signature
      return redispatch(op, detail::with_thread_keys((detail::keys_of(args) | ...)), args...);
    } else {
      return redispatch(op, call_keys<Args...>(args...), args...);
    }
  }
  // The keys are used as they are: no thread state.
  static R redispatch(const OperatorEntry& op, DispatchKeySet keys, Args... args) {
    const Table& table = op.table();
    const Table::Found found = table.find(keys);
    const ErasedKernel& kernel = table.kernel(found.kernel);
    if (kernel.flags != 0) [[unlikely]]
      return call_slowly(op, keys, args...);
    try {
      return reinterpret_cast<KernelFn<R, Args...>>(kernel.fn)(kernel, found.keys, args...);
    } catch (...) {
      leave_op<Args...>(op, args...);
    }
  }

 private:
  static constexpr bool kMayLose = detail::kHasTensors<R> && (carries_keys<Args> || ...);

  // Instantiated with the caller, so that it is there as long as the caller is. What does not depend on the signature
  // is compiled once.
  __attribute__((noinline)) static R call_slowly(const OperatorEntry& op, DispatchKeySet asked, Args... args) {
    const void* const arguments[sizeof...(Args) + 1] = {&args...};
    if constexpr (kMayLose) {
      if (!grad_enabled()) {  // past a mark, as in most calls that meet one
        const Table& table = op.table();
        const Table::Found found = table.find_past_mark(asked);
        const ErasedKernel& kernel = table.kernel(found.kernel);
        if (kernel.flags == 0) {
          try {
            return reinterpret_cast<KernelFn<R, Args...>>(kernel.fn)(kernel, found.keys, args...);
          } catch (...) {
            detail::leave_op(op, arguments);
          }
        }
      }
    }
    const KernelUseGuard pinned(op, asked);
    const Table::Found found = pinned.found();
    const ErasedKernel& kernel = pinned.table().kernel(found.kernel);
    try {
      const auto run = [&]() -> R {
        if ((kernel.flags & kBoxedOnly) == 0) {
          return reinterpret_cast<KernelFn<R, Args...>>(kernel.fn)(kernel, found.keys, args...);
        }
        Stack stack = detail::call_boxed_kernel(op, kernel, found.keys, arguments);
        IValue* results = stack.data();
        return detail::BoxedResults<R>::get(op, arguments, results);
      };
      if constexpr (kMayLose) {
        if (detail::loses_gradient_at(op, asked, arguments)) {
          R result = run();
          if (detail::lacks_gradient(result)) detail::warn_of_lost_gradient(op);
          return result;
        }
      }
      return run();
    } catch (...) {
      detail::leave_op(op, arguments);
    }
  }
};

// Boxed call: arguments on top of the stack, results in their place. Keys of tensors and thread as for typed
// calls.
KEYWAY_API void call_boxed(const OperatorEntry& op, Stack& stack);
KEYWAY_API void redispatch_boxed(const OperatorEntry& op, DispatchKeySet keys, Stack& stack);
// The keys of a boxed call. Requires: the operator's arguments are on top of the stack.
KEYWAY_API DispatchKeySet boxed_call_keys(const OperatorEntry& op, const Stack& stack);

}  // namespace keyway::inline v1
