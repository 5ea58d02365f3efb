// visit_loop_dtype: visit_dtype (core/dtype/visit_dtype.h) for functors whose loops are shared by several dtypes.
#pragma once

#include <keyway/core/dtype/visit_dtype.h>

#include <string_view>

namespace keyway::inline v1 {

namespace detail {

// What a loop has elements of that dtype as: 16-bit floats as float32, which they are computed in anyway.
constexpr ScalarType wide_dtype(ScalarType dtype) {
  if (dtype == kHalf || dtype == kBFloat16) return kFloat;
  return dtype == kComplexHalf ? kComplexFloat : dtype;
}
// And where the functor only moves them: as one of their size.
constexpr ScalarType bits_dtype(ScalarType dtype) {
  switch (element_size(dtype)) {
    case 1: return kByte;
    case 2: return kUInt16;
    case 4: return kUInt32;
    case 8: return kUInt64;
    default: return dtype;
  }
}

// `moves`: whether the functor only moves elements.
template <bool moves>
constexpr ScalarType loop_dtype(ScalarType dtype) {
  return moves ? bits_dtype(dtype) : wide_dtype(dtype);
}
template <bool moves>
constexpr DtypeSet loop_dtypes(DtypeSet set) {
  DtypeSet result;
  for (; !set.empty(); set = set - set.first()) result = result | loop_dtype<moves>(set.first());
  return result;
}

}  // namespace detail

// Functors that neither compute elements nor look at them say so.
template <typename F>
concept MovesElements = F::kMovesElements;

// Functors that are about the bits of an element, as the one of the next number, say so: loops have its own type.
template <typename F>
concept KeepsDtype = F::kKeepsDtype;

// Calls f.operator()<T>() with the C++ type that loops of F over elements of `dtype` have, or f.operator()<T,
// Element>() with that of the elements too, which arguments may be rounded to (ops/functors/argument.h). Requires of
// F<T>, unless it keeps its dtype, that it computes every step in Opmath<T> and rounds once.
template <template <typename...> typename F, DtypeSet set, typename Visitor>
constexpr decltype(auto) visit_loop_dtype(ScalarType dtype, std::string_view what, Visitor&& f) {
  constexpr ScalarType kFirst = set.first();
  using First = cpp_type_t<kFirst>;
  constexpr bool kMoves = MovesElements<F<First>>;
  if constexpr (KeepsDtype<F<First>>) {
    return visit_dtype<set>(dtype, what, f);
  } else if constexpr (requires { f.template operator()<cpp_type_t<detail::loop_dtype<kMoves>(kFirst)>, First>(); }) {
    const auto visit = [&]<typename Element>() __attribute__((always_inline))->decltype(auto) {
      constexpr ScalarType kLoop = detail::loop_dtype<kMoves>(cpp_type_to_scalar_type<Element>);
      return f.template operator()<cpp_type_t<kLoop>, Element>();
    };
    return visit_dtype<set>(dtype, what, visit);
  } else {
    if (!set.contains(dtype)) [[unlikely]]
      detail::fail_dtype(dtype, set, what);
    return visit_dtype<detail::loop_dtypes<kMoves>(set)>(detail::loop_dtype<kMoves>(dtype), what, f);
  }
}

}  // namespace keyway::inline v1
