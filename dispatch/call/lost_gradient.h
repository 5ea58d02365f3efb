// Operators without an Autograd kernel: their results lose the gradient that arguments ask for, which is said once of
// each. Until then a mark stands at Autograd in their tables (kLosesGradient): calls that ask for that key find it, go
// on below and look what they get. Other calls find what they would find without it.
#pragma once

#include <keyway/core/keys/thread_state.h>
#include <keyway/dispatch/call/operator_entry.h>
#include <keyway/dispatch/call/signature.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

namespace keyway::inline v1 {

// Whether a call with these keys and arguments would record a gradient if its operator had a kernel that does so.
// `arguments`: as many as the schema has. Requires: `asked` has no key above Autograd.
KEYWAY_API bool loses_gradient(const OperatorEntry& op, DispatchKeySet asked, const IValue* arguments);
// Whether a result of that call is one that has a gradient elsewhere.
KEYWAY_API bool lacks_gradient(const TensorBase& result);

// Claims the warning for this operator; true for the first caller only, who must then call settle_lost_gradient() and
// warn, or unclaim_lost_gradient() if the result turned out to have a gradient, after which
// another may claim it.
KEYWAY_API bool claim_lost_gradient(const OperatorEntry& op);
KEYWAY_API void unclaim_lost_gradient(const OperatorEntry& op) noexcept;
// Call after claiming and before warning: publishes a table without the mark, so that later calls are not checked.
// Takes the registry's lock. If memory runs out, calls go on being checked.
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

// Whether a tensor in it does.
template <typename R>
bool lacks_gradient(const R& result) {
  if constexpr (!kHasTensors<R>) {
    return false;
  } else if constexpr (std::is_base_of_v<TensorBase, R>) {
    return keyway::lacks_gradient(result);
  } else if constexpr (kIsVector<R>) {
    return std::ranges::any_of(result, [](const auto& each) { return detail::lacks_gradient(each); });
  } else if constexpr (kIsOptional<R>) {
    return result && detail::lacks_gradient(*result);
  } else {
    return std::apply([](const auto&... each) { return (detail::lacks_gradient(each) || ...); }, result);
  }
}

}  // namespace detail

}  // namespace keyway::inline v1
