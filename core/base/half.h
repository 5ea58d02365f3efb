// Half: IEEE binary16, a float of 5 exponent and 10 mantissa bits.
#pragma once

#include <keyway/core/base/narrow_float.h>

namespace keyway::inline v1 {

// Largest number 65504, smallest normal 2^-14, smallest 2^-24. Converts, rounds and computes as NarrowFloat
// says.
struct Half : detail::NarrowFloat<Half, 5, 10, 15, FloatSpecials::Ieee> {
  using NarrowFloat::NarrowFloat;
};

}  // namespace keyway::inline v1
