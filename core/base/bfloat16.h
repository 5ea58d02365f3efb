// BFloat16: the upper half of a float, 8 exponent and 7 mantissa bits.
#pragma once

#include <keyway/core/base/narrow_float.h>

namespace keyway::inline v1 {

// Float's range with two to three decimal digits. Converts, rounds and computes as NarrowFloat says; widening
// is a shift, so a signalling NaN stays one.
struct BFloat16 : detail::NarrowFloat<BFloat16, 8, 7, 127, FloatSpecials::Ieee> {
  using NarrowFloat::NarrowFloat;
};

}  // namespace keyway::inline v1
