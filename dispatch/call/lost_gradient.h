// Operators without an Autograd kernel: their results lose the gradient that arguments ask for, which is said once of
// each. Until then a mark stands at Autograd in their tables (kLosesGradient): calls that ask for that key find it, go
// on below and look what they get. Other calls find what they would find without it.
#pragma once

#include <keyway/core/keys/thread_state.h>
#include <keyway/dispatch/call/operator_entry.h>
#include <keyway/dispatch/call/signature.h>

#include <optional>
#include <tuple>
#include <vector>

namespace keyway::inline v1 {

// Whether a call with these keys, of which none stands above Autograd, and these arguments would record a gradient, had
// its operator a kernel that does so.
// `arguments`: as many as the schema has.
KEYWAY_API bool loses_gradient(const OperatorEntry& op, DispatchKeySet asked, const IValue* arguments);
// Whether a result of that call is one that has a gradient elsewhere.
KEYWAY_API bool lacks_gradient(const TensorBase& result);

// True for the first caller: who says it. Others need not, unless it is taken back: the result has a gradient.
KEYWAY_API bool claim_lost_gradient(const OperatorEntry& op);
KEYWAY_API void unclaim_lost_gradient(const OperatorEntry& op) noexcept;
// By who claimed it, before it is said: from now on the operator has a table without marks, and nobody looks any more.
// Takes the registry's lock. Should memory run out, calls go on looking.
KEYWAY_API void settle_lost_gradient(const OperatorEntry& op) noexcept;
// "my::op has no kernel at Autograd, so that ...".
KEYWAY_API std::string lost_gradient_text(const OperatorEntry& op);

namespace detail {

// As loses_gradient. `arguments`: their addresses, as the operator's canonical signature has them.
KEYWAY_API bool loses_gradient_at(const OperatorEntry& op, DispatchKeySet asked, const void* const* arguments);
// Says it, if nobody has.
KEYWAY_API void warn_of_lost_gradient(const OperatorEntry& op);

template <typename R>
inline constexpr bool kHasTensors = std::is_base_of_v<TensorBase, R>;
template <typename T>
inline constexpr bool kHasTensors<std::vector<T>> = kHasTensors<T>;
template <typename T>
inline constexpr bool kHasTensors<std::optional<T>> = kHasTensors<T>;
template <typename... T>
inline constexpr bool kHasTensors<std::tuple<T...>> = (kHasTensors<T> || ...);

template <typename R>
bool lacks_gradient(const R& result) {
  if constexpr (std::is_base_of_v<TensorBase, R>) {
    return keyway::lacks_gradient(result);
  } else {
    return false;
  }
}
template <typename T>
bool lacks_gradient(const std::vector<T>& results) {
  for (const T& result : results) {
    if (detail::lacks_gradient(result)) return true;
  }
  return false;
}
template <typename T>
bool lacks_gradient(const std::optional<T>& result) {
  return result && detail::lacks_gradient(*result);
}
template <typename... T>
bool lacks_gradient(const std::tuple<T...>& results) {
  return std::apply([](const T&... each) { return (detail::lacks_gradient(each) || ...); }, results);
}

}  // namespace detail

}  // namespace keyway::inline v1
