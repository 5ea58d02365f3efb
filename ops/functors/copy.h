// Conversion of elements between dtypes.
#pragma once

#include <keyway/core/base/float8.h>
#include <keyway/ops/functors/opmath.h>

namespace keyway::inline v1 {

namespace detail {

// Truncated towards zero; beyond To's range the nearest end of it; 0 for NaN.
template <std::integral To, std::floating_point From>
KEYWAY_HD constexpr To truncate(From x) {
  // The first power of two beyond the range is exact in any floating type, and below it conversion is
  // defined.
  constexpr int kBits = std::numeric_limits<To>::digits;
  constexpr From kBeyond = static_cast<From>(std::uint64_t{1} << (kBits - 1)) * 2;
  constexpr From kLeast = std::is_signed_v<To> ? -kBeyond : From(0);
  const bool above = x >= kBeyond, below = x < kLeast, nan = x != x;
  const To inside = static_cast<To>((above | below | nan) ? From(0) : x);
  const To clamped = above ? std::numeric_limits<To>::max() : inside;
  return below ? std::numeric_limits<To>::lowest() : clamped;
}

// What a float becomes on its way to an integer: 8 and 16 bits, and unsigned ones, take the low bits of a
// wider signed integer, so that -1.0 is 255 as uint8, as in PyTorch.
template <IntegerElement To, std::floating_point From>
KEYWAY_HD constexpr To to_integer(From x) {
  if constexpr (std::same_as<To, std::uint64_t>) {
    return x < 0 ? static_cast<To>(truncate<std::int64_t>(x)) : truncate<To>(x);
  } else if constexpr (std::same_as<To, std::uint32_t>) {
    return static_cast<To>(truncate<std::int64_t>(x));
  } else if constexpr (sizeof(To) < 4) {
    return static_cast<To>(truncate<std::int32_t>(x));
  } else {
    return truncate<To>(x);
  }
}

}  // namespace detail

// `From` as a `To`. Floats are rounded to nearest, once. Integers keep their low bits. Of a complex number
// the real part. Floats to integers: cut off towards zero, NaN gives 0; out of range, 32 and 64 bits give the
// nearest end, 8 and 16 bits the low bits of the 32-bit result. To bool: whether it is not zero, which NaN is
// not.
template <typename To, typename From>
struct Cast {
  KEYWAY_HD constexpr To operator()(From x) const {
    if constexpr (std::same_as<To, From>) {
      return x;
    } else if constexpr (std::same_as<From, Float8_e8m0fnu>) {
      return Cast<To, float>{}(x);
    } else if constexpr (std::same_as<To, bool>) {
      if constexpr (ComplexElement<From>) {
        return opmath(x) != Opmath<From>();
      } else {
        return opmath(x) != 0;
      }
    } else if constexpr (ComplexElement<To> && ComplexElement<From>) {
      using Part = Real<To>;
      return To(Cast<Part, Real<From>>{}(x.real()), Cast<Part, Real<From>>{}(x.imag()));
    } else if constexpr (ComplexElement<To>) {
      return To(Cast<Real<To>, From>{}(x));
    } else if constexpr (ComplexElement<From>) {
      return Cast<To, Real<From>>{}(x.real());
    } else if constexpr (IntegerElement<To> && !std::integral<From>) {
      return detail::to_integer<To>(opmath(x));
    } else if constexpr (NarrowFloatType<From>) {
      return static_cast<To>(opmath(x));
    } else {
      return static_cast<To>(x);
    }
  }
};

}  // namespace keyway::inline v1
