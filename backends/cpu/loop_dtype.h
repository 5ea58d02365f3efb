// visit_loop_dtype: visit_dtype (core/visit_dtype.h) for functors whose loops are shared by several dtypes.
#pragma once

#include <keyway/core/visit_dtype.h>

#include <string_view>

namespace keyway::inline v1 {

namespace detail {

// What a loop has elements of that dtype as: 16-bit floats as float32, which they are computed in anyway.
constexpr ScalarType loop_dtype(ScalarType dtype) {
  if (dtype == kHalf || dtype == kBFloat16) return kFloat;
  return dtype == kComplexHalf ? kComplexFloat : dtype;
}
constexpr DtypeSet loop_dtypes(DtypeSet set) {
  DtypeSet result;
  for (; !set.empty(); set = set - set.first()) result = result | loop_dtype(set.first());
  return result;
}

}  // namespace detail

// Calls f.operator()<T>() with the C++ type that loops over elements of `dtype` have. Requires of a functor of T that
// it computes every step in Opmath<T> and rounds once, and that no argument but tensors is rounded to T.
template <DtypeSet set, typename F>
constexpr decltype(auto) visit_loop_dtype(ScalarType dtype, std::string_view what, F&& f) {
  if (!set.contains(dtype)) [[unlikely]]
    detail::fail_dtype(dtype, set, what);
  return visit_dtype<detail::loop_dtypes(set)>(detail::loop_dtype(dtype), what, f);
}

}  // namespace keyway::inline v1
