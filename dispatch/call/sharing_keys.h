// Keys of calls that are made by keys from before other code ran, which may have cloned lazily what they write to
// (core/tensor/copy_on_write.h): a kernel's that redispatches, say, after a hook of a user's.
#pragma once

#include <keyway/dispatch/call/call.h>

namespace keyway::inline v1 {

// `keys`, with CopyOnWrite if an argument of the call has it by now. Operators that write to no argument skip it.
template <typename... Args>
inline DispatchKeySet with_sharing(DispatchKeySet keys, const Args&... args) {
  return keys | ((detail::keys_of(args) | ... | DispatchKeySet()) & DispatchKeySet(Functionality::CopyOnWrite));
}

// Calls the kernel that these keys resolve to. Requires: Sig is the operator's canonical signature.
template <typename Sig>
struct SharingCaller;
template <typename R, typename... Args>
struct SharingCaller<R(Args...)> {
  static R redispatch(const OperatorEntry& op, DispatchKeySet keys, Args... args) {
    return Caller<R(Args...)>::redispatch(op, with_sharing(keys, args...), args...);
  }
};

// The same for a boxed call.
inline void redispatch_boxed_with_sharing(const OperatorEntry& op, DispatchKeySet keys, Stack& stack) {
  redispatch_boxed(op, keys | (boxed_call_keys(op, stack) & DispatchKeySet(Functionality::CopyOnWrite)), stack);
}

}  // namespace keyway::inline v1
