// kElementErrorOf: what a functor says of an element that it does not accept (argument.h has the convention).
#pragma once

namespace keyway::inline v1 {

// Functor::kElementError; null if it has none, and so accepts all elements.
template <typename F>
inline constexpr const char* kElementErrorOf = nullptr;
template <typename F>
requires requires { F::kElementError; }
inline constexpr const char* kElementErrorOf<F> = F::kElementError;

}  // namespace keyway::inline v1
