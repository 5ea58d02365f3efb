// What a sum is divided by where the number of its terms is no element: windows of pooling.
#pragma once

#include <keyway/ops/functors/copy.h>
#include <keyway/ops/functors/division.h>

namespace keyway::inline v1 {

// `sum` divided by a number of terms, towards zero if T is an integer; 0 where that number is 0.
template <typename T>
KEYWAY_HD T mean_of(Opmath<T> sum, double terms) {
  if constexpr (IntegerElement<T>) {
    const T length = detail::truncate<T>(terms);
    return length == 0 ? T(0) : detail::quotient(sum, length);
  } else {
    const auto length = static_cast<Opmath<T>>(terms);
    return length == Opmath<T>(0) ? T(0) : static_cast<T>(sum / length);
  }
}

}  // namespace keyway::inline v1
