// How a number that takes part in promotion, as a tensor in its place would, becomes the member of a functor: as
// argument() (argument.h), but beyond the range of a float it is infinity, and an integer wraps around.
//
//   mul.Scalar(Tensor self, Scalar other)                         MulScalar<T>{operand(other)}
#pragma once

#include <keyway/core/base/complex.h>
#include <keyway/core/base/macros.h>
#include <keyway/ops/functors/argument.h>

#include <cstdint>
#include <limits>

namespace keyway::inline v1 {

namespace detail {

// S has to<X>() and try_to(X&), as Scalar.
template <typename X, typename S>
constexpr X convert_operand(const S& number) {
  X result{};
  if (number.try_to(result)) return result;
  if constexpr (kIsComplex<X>) {
    using Part = typename X::value_type;
    const auto z = number.template to<complex<double>>();
    return X(convert_operand<Part>(S(z.real())), convert_operand<Part>(S(z.imag())));
  } else if constexpr (std::numeric_limits<X>::has_infinity) {
    constexpr X kInfinity = std::numeric_limits<X>::infinity();
    if (!number.is_complex()) return number.template to<double>() < 0 ? -kInfinity : kInfinity;
  } else {
    std::int64_t signed_number = 0;
    if (number.try_to(signed_number)) return static_cast<X>(signed_number);
    std::uint64_t unsigned_number = 0;
    if (number.try_to(unsigned_number)) return static_cast<X>(unsigned_number);
  }
  return number.template to<X>();  // throws
}

template <typename S, typename Element>
class NumberOperand {
 public:
  explicit constexpr NumberOperand(const S& number) : number_(number) {}

  template <typename X>
  requires(!kIsWrapped<X>) constexpr operator X() const {  // NOLINT
    return convert_operand<X>(number_);
  }
  template <typename X>
  constexpr operator Rounded<X>() const {  // NOLINT
    return rounded<X>(convert_operand<ElementOr<Element, X>>(number_));
  }

 private:
  const S& number_;
};

}  // namespace detail

// As argument() has it. Requires: the number outlives the result.
template <typename Element = void, typename S>
constexpr detail::NumberOperand<S, Element> operand(const S& number) {
  return detail::NumberOperand<S, Element>(number);
}

}  // namespace keyway::inline v1
