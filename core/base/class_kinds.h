// Whether a class is a std::vector, or a std::optional.
#pragma once

#include <optional>
#include <vector>

namespace keyway::inline v1::detail {

template <typename T>
inline constexpr bool kIsVector = false;
template <typename T>
inline constexpr bool kIsVector<std::vector<T>> = true;

template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

}  // namespace keyway::inline v1::detail
