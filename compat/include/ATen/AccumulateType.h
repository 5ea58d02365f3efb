// The C++ type in which sums of a type are kept: on the CPU double for float, else that of the device.
#pragma once

#include <c10/core/ScalarType.h>
#include <type_traits>

namespace at {
template <typename T, bool is_cuda>
using acc_type = std::conditional_t<!is_cuda && std::is_same_v<keyway::opmath_t<T>, float>, double,
                                    keyway::cpp_type_t<keyway::accumulate_type(keyway::cpp_type_to_scalar_type<T>)>>;
}  // namespace at
