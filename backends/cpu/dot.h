// dot: the sum of the products of two lists of neighbours.
#pragma once

#include <cstdint>

namespace keyway::inline v1::detail {

// In lanes (lanes.h), so that it is the same on every instruction set. T: float, double.
template <typename T>
T dot(const T* a, const T* b, std::int64_t n);

}  // namespace keyway::inline v1::detail
