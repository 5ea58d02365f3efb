// How the arguments of an operator become the members of its functor.
//
// THE CONVENTION, which generated code follows on every backend: a functor is a struct template over the
// element type T of the operator's first tensor (more where the entry says so). Its members are what the
// operator takes besides tensors, in the schema's order, and it is initialised with all of them in braces,
// each wrapped by argument():
//
//   add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1)      Add<T>{argument(alpha)}
//   clamp(Tensor self, Scalar? min=None, Scalar? max=None)        Clamp<T>{argument(min), argument(max)}
//   gelu(Tensor self, *, str approximate='none')                  Gelu<T>{argument(approximate)}
//   exp(Tensor self)                                              Exp<T>{}
//
// A member has the type it is computed in: T itself for integers and bool, Opmath<T> for floats and complex
// numbers, and the argument converts to it: a number with Scalar's checks, a number that may be absent to
// Optional<number>, text to std::string_view (a functor with a constructor makes an enumeration of it). So
// this header, like all functors, knows nothing of Scalar. A number that stands for an element is a
// Rounded<T>.
//
// operator() is const, not a template, takes the elements of the operator's tensors by value and returns the
// result's. It computes every input without undefined behaviour; what it must refuse it says in a second
// function,
//   bool accepts(same arguments) const;    static constexpr const char* kElementError = "text of the error";
// which the CPU driver asks about all elements before it writes any.
#pragma once

#include <keyway/core/base/bits.h>
#include <keyway/core/base/macros.h>

#include <concepts>
#include <optional>
#include <string_view>
#include <type_traits>

namespace keyway::inline v1 {

// An argument that may be absent, for device code too.
template <typename T>
struct Optional {
  T value{};
  bool given = false;

  KEYWAY_HD constexpr T value_or(T other) const { return given ? value : other; }
};

// A number as an element: rounded to what elements are in memory, which loops may have as a wider T, or as bits.
template <typename T>
struct Rounded {
  T value{};
};

namespace detail {
template <typename>
inline constexpr bool kIsWrapped = false;
template <typename T>
inline constexpr bool kIsWrapped<Optional<T>> = true;
template <typename T>
inline constexpr bool kIsWrapped<Rounded<T>> = true;

// What is converted to an element first. Without an Element they are X themselves.
template <typename Element, typename X>
using ElementOr = std::conditional_t<std::is_void_v<Element>, X, Element>;

template <typename X, typename Element>
constexpr Rounded<X> rounded(Element x) {
  if constexpr (sizeof(X) == sizeof(Element)) {
    return {bit_cast<X>(x)};
  } else {
    return {static_cast<X>(x)};
  }
}

// S has a member template to<X>(), as Scalar, or is arithmetic.
template <typename X, typename S>
constexpr X convert_number(const S& number) {
  if constexpr (std::is_arithmetic_v<S>) {
    return static_cast<X>(number);
  } else {
    return number.template to<X>();
  }
}

template <typename S, typename Element>
class NumberArgument {
 public:
  explicit constexpr NumberArgument(const S* number) : number_(number) {}

  template <typename X>
  requires(!kIsWrapped<X> && requires(const S& s) { convert_number<X>(s); }) constexpr operator X() const {  // NOLINT
    return convert_number<X>(*number_);
  }
  template <typename X>
  constexpr operator Rounded<X>() const {  // NOLINT
    return rounded<X>(convert_number<ElementOr<Element, X>>(*number_));
  }
  template <typename X>
  constexpr operator Optional<X>() const {  // NOLINT
    return number_ != nullptr ? Optional<X>{static_cast<X>(*this), true} : Optional<X>{};
  }

 private:
  const S* number_;  // null: absent
};
}  // namespace detail

// `Element` is the type of the elements in memory, if it may be another than the functor's. Requires: the argument
// outlives the result.
template <typename Element = void, typename S>
constexpr detail::NumberArgument<S, Element> argument(const S& number) {
  return detail::NumberArgument<S, Element>(&number);
}
template <typename Element = void, typename S>
constexpr detail::NumberArgument<S, Element> argument(const std::optional<S>& number) {
  return detail::NumberArgument<S, Element>(number ? &*number : nullptr);
}
constexpr std::string_view argument(std::string_view text) { return text; }

}  // namespace keyway::inline v1
