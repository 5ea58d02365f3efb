// OrderKey: integers that sort as elements do.
#pragma once

#include <keyway/ops/functors/opmath.h>

#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace keyway::inline v1 {

// An element's key, of 64 bits where the element has so many, else of 32. A float's bits are in order if it is
// positive, and in the opposite order if it is negative. Zeros are equal, and all that is NaN is equal and greater than
// all numbers.
template <typename T>
struct OrderKey {
  using Key = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
  Key flip;  // -1 for the opposite order, else 0

  KEYWAY_HD constexpr Key operator()(T x) const { return key(x) ^ flip; }

 private:
  KEYWAY_HD static constexpr Key key(T x) {
    if constexpr (RealFloat<T>) {
      const auto value = opmath(x);
      const Key bits = value == 0 ? 0 : std::bit_cast<Key>(value);
      const Key ordered = bits ^ ((bits < 0 ? Key{-1} : Key{0}) & std::numeric_limits<Key>::max());
      return is_nan(value) ? std::numeric_limits<Key>::max() : ordered;
    } else if constexpr (std::unsigned_integral<T> && sizeof(T) == sizeof(Key)) {
      return static_cast<Key>(x ^ (T{1} << (8 * sizeof(T) - 1)));  // 0 is the least
    } else {
      return static_cast<Key>(x);
    }
  }
};

}  // namespace keyway::inline v1
