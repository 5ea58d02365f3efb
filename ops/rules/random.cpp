#include <keyway/core/base/error.h>
#include <keyway/core/dtype/visit_dtype.h>
#include <keyway/ops/rules/random.h>

#include <algorithm>
#include <concepts>
#include <limits>

namespace keyway::inline v1::rules {

namespace {

constexpr DtypeSet kWholeTypes = kRealTypes | kBool;

// The number of integers from 0 to the greatest that T has, or that is followed by the next one in a float.
template <typename T>
std::uint64_t whole_numbers() {
  if constexpr (std::same_as<T, bool>) {
    return 2;
  } else if constexpr (std::integral<T>) {
    return static_cast<std::uint64_t>(std::numeric_limits<T>::max()) + 1;  // 0, all of 2^64, for uint64
  } else {
    return (std::uint64_t{1} << std::numeric_limits<T>::digits) + 1;
  }
}

}  // namespace

void check_holds(ScalarType dtype, std::int64_t low, std::int64_t high) {
  visit_dtype<kWholeTypes>(dtype, "random_", [&]<typename T>() {
    std::int64_t least = 0, greatest = 1;
    if constexpr (std::integral<T> && !std::same_as<T, bool>) {
      least = std::is_unsigned_v<T> ? 0 : static_cast<std::int64_t>(std::numeric_limits<T>::min());
      greatest = sizeof(T) == 8 ? INT64_MAX : static_cast<std::int64_t>(std::numeric_limits<T>::max());
    } else if constexpr (!std::same_as<T, bool>) {
      greatest = std::int64_t{1} << std::numeric_limits<T>::digits;
      least = -greatest;
    }
    KEYWAY_CHECK(least <= low && high <= greatest, "{} holds the integers from {} to {}, but {} to {} are asked for",
                 dtype, least, greatest, low, high);
  });
}

void check_permutation(ScalarType dtype, std::int64_t n) {
  KEYWAY_CHECK_AS(Dtype, kRealTypes.contains(dtype), "a permutation is not of {}", dtype);
  check_holds(dtype, 0, std::max<std::int64_t>(0, n - 1));
}

WholeRange whole_range(ScalarType dtype) {
  return visit_dtype<kWholeTypes>(dtype, "random_", []<typename T>() { return WholeRange{0, whole_numbers<T>()}; });
}

WholeRange whole_range(ScalarType dtype, std::int64_t from, std::optional<std::int64_t> to) {
  check_holds(dtype, from, to ? *to - 1 : from);
  if (to) return {from, static_cast<std::uint64_t>(*to) - static_cast<std::uint64_t>(from)};
  return {from, whole_range(dtype).count - static_cast<std::uint64_t>(from)};
}

}  // namespace keyway::inline v1::rules
