// visit_dtype: from a ScalarType known at run time to a C++ type, without macros.
//
//   visit_dtype<kRealTypes>(self.scalar_type(), "sort", [&]<typename T>() { sort_kernel<T>(...); });
//
// instantiates the lambda for the types of the set only; any other dtype throws Error(Type), which names it
// and the set:
//   sort is not implemented for complex64; it takes uint8, int8, ... or bfloat16.
#pragma once

#include <keyway/core/base/macros.h>
#include <keyway/core/dtype/cpp_type.h>
#include <keyway/core/dtype/dtype_set.h>
#include <keyway/core/dtype/scalar_type.h>

#include <string_view>

namespace keyway::inline v1 {

namespace detail {

[[noreturn]] KEYWAY_API KEYWAY_COLD void fail_dtype(ScalarType dtype, DtypeSet set, std::string_view what);

// Requires: set.contains(dtype). Compilers compare one after the other: what is most common comes first.
template <DtypeSet set, typename F>
constexpr decltype(auto) visit_in(ScalarType dtype, F& f) {
  constexpr ScalarType first = set.contains(kFloat) ? kFloat : set.first();
  if constexpr (set.size() == 1) {
    return f.template operator()<cpp_type_t<first>>();
  } else {
    if (dtype == first) return f.template operator()<cpp_type_t<first>>();
    return visit_in<set - first>(dtype, f);
  }
}

}  // namespace detail

// Calls f.operator()<T>() with the C++ type of `dtype` and returns what it returns (one type for all T).
template <DtypeSet set, typename F>
constexpr decltype(auto) visit_dtype(ScalarType dtype, std::string_view what, F&& f) {
  static_assert(!set.empty(), "visit_dtype needs at least one dtype");
  static_assert(kCppTypes.contains(set), "visit_dtype: a dtype of the set has no C++ type");
  if (!set.contains(dtype)) [[unlikely]]
    detail::fail_dtype(dtype, set, what);
  return detail::visit_in<set>(dtype, f);
}

// The same for the common sets, by name: visit_real(dtype, what, f).
template <DtypeSet set>
struct DtypeVisitor {
  template <typename F>
  constexpr decltype(auto) operator()(ScalarType dtype, std::string_view what, F&& f) const {
    return visit_dtype<set>(dtype, what, f);
  }
};
inline constexpr DtypeVisitor<kFloatingTypes> visit_floating;
inline constexpr DtypeVisitor<kFloatingAndComplexTypes> visit_floating_and_complex;
inline constexpr DtypeVisitor<kIntegralTypes> visit_integral;
inline constexpr DtypeVisitor<kIndexTypes> visit_index;
inline constexpr DtypeVisitor<kRealTypes> visit_real;
inline constexpr DtypeVisitor<kAnyTypes> visit_any;
inline constexpr DtypeVisitor<kCppTypes> visit_all;

}  // namespace keyway::inline v1
