// dot: the sum of the products of two lists of neighbours.
#pragma once

#include <cstdint>

namespace keyway::inline v1::detail {

// In lanes (lanes.h) and parts of a fixed length, so that it is the same on every instruction set and for any number of
// threads. T: float, double.
template <typename T>
T dot(const T* a, const T* b, std::int64_t n);

}  // namespace keyway::inline v1::detail
