// FunctorSignature: result and argument types of a functor's operator(), which are the element types of a
// loop over it.
#pragma once

#include <cstddef>
#include <tuple>

namespace keyway::inline v1 {

namespace detail {
template <typename M>
struct CallSignature;
template <typename F, typename R, typename... A>
struct CallSignature<R (F::*)(A...) const> {
  using Result = R;
  using Arguments = std::tuple<A...>;
  static constexpr std::size_t kArity = sizeof...(A);
};
}  // namespace detail

// Requires: F has one operator(), const and not a template, that takes and returns elements by value.
template <typename F>
using FunctorSignature = detail::CallSignature<decltype(&F::operator())>;

template <typename F>
using functor_result_t = typename FunctorSignature<F>::Result;
template <typename F, std::size_t i>
using functor_argument_t = std::tuple_element_t<i, typename FunctorSignature<F>::Arguments>;

}  // namespace keyway::inline v1
