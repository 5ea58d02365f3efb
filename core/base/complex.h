// complex<T>: complex numbers of Half, float or double for host and device code.
//
// Differs from std::complex where a tensor library must: it works in device code and for Half, it is aligned
// to its size (one vector load), all of its arithmetic is constexpr, and a product is the plain formula,
// which does not recover infinities from NaNs. Half parts are computed in float and rounded once.
#pragma once

#include <keyway/core/base/half.h>
#include <keyway/core/base/macros.h>

#include <cmath>
#include <concepts>
#include <string>
#include <type_traits>

namespace keyway::inline v1 {

template <typename T>
concept ComplexPart = std::same_as<T, Half> || std::same_as<T, float> || std::same_as<T, double>;

template <ComplexPart T>
class complex;

template <typename T>
inline constexpr bool kIsComplex = false;
template <ComplexPart T>
inline constexpr bool kIsComplex<complex<T>> = true;

// std::complex<U>, without its header: a class of two floating-point parts that is not one of ours.
template <typename Z>
concept ForeignComplex =
    std::floating_point<typename Z::value_type> && !kIsComplex<Z> && requires(const Z& z, typename Z::value_type part) {
  { z.real() } -> std::same_as<typename Z::value_type>;
  { z.imag() } -> std::same_as<typename Z::value_type>;
  Z(part, part);
};

template <ComplexPart T>
class alignas(2 * sizeof(T)) complex {
 public:
  using value_type = T;

  KEYWAY_HD constexpr complex(T real = T(0.0f), T imag = T(0.0f)) : real_(real), imag_(imag) {}  // NOLINT
  // From other parts: implicit where every value is kept.
  template <ComplexPart U>
  KEYWAY_HD constexpr explicit(sizeof(U) > sizeof(T)) complex(const complex<U>& z)
      : real_(static_cast<T>(z.real())), imag_(static_cast<T>(z.imag())) {}
  // From and to std::complex: implicit between the same parts.
  template <ForeignComplex Z>
  constexpr explicit(!std::same_as<T, typename Z::value_type>) complex(const Z& z)
      : real_(static_cast<T>(z.real())), imag_(static_cast<T>(z.imag())) {}
  template <ForeignComplex Z>
  constexpr explicit(!std::same_as<T, typename Z::value_type>) operator Z() const {
    using Part = typename Z::value_type;
    return Z(static_cast<Part>(real_), static_cast<Part>(imag_));
  }

  KEYWAY_HD constexpr T real() const { return real_; }
  KEYWAY_HD constexpr T imag() const { return imag_; }
  KEYWAY_HD constexpr void real(T x) { real_ = x; }
  KEYWAY_HD constexpr void imag(T x) { imag_ = x; }

  KEYWAY_HD constexpr complex operator+() const { return *this; }
  KEYWAY_HD constexpr complex operator-() const { return {-real_, -imag_}; }
  KEYWAY_HD constexpr complex& operator+=(complex b) { return *this = *this + b; }
  KEYWAY_HD constexpr complex& operator-=(complex b) { return *this = *this - b; }
  KEYWAY_HD constexpr complex& operator*=(complex b) { return *this = *this * b; }
  KEYWAY_HD constexpr complex& operator/=(complex b) { return *this = *this / b; }
  KEYWAY_HD constexpr complex& operator+=(T b) { return *this = *this + b; }
  KEYWAY_HD constexpr complex& operator-=(T b) { return *this = *this - b; }
  KEYWAY_HD constexpr complex& operator*=(T b) { return *this = *this * b; }
  KEYWAY_HD constexpr complex& operator/=(T b) { return *this = *this / b; }

  KEYWAY_HD friend constexpr complex operator+(complex a, complex b) { return {a.real_ + b.real_, a.imag_ + b.imag_}; }
  KEYWAY_HD friend constexpr complex operator-(complex a, complex b) { return {a.real_ - b.real_, a.imag_ - b.imag_}; }
  KEYWAY_HD friend constexpr complex operator*(complex a, complex b) {
    const Wide ar = a.real_, ai = a.imag_, br = b.real_, bi = b.imag_;
    return {static_cast<T>(ar * br - ai * bi), static_cast<T>(ar * bi + ai * br)};
  }
  // Scaled by the larger part of the divisor (Smith's method), so that it overflows only where the result is
  // near the end of the range. Division by zero gives infinities and NaNs, part by part.
  KEYWAY_HD friend constexpr complex operator/(complex a, complex b) {
    const Wide ar = a.real_, ai = a.imag_, br = b.real_, bi = b.imag_;
    const Wide abs_br = br < 0 ? -br : br;
    const Wide abs_bi = bi < 0 ? -bi : bi;
    if (abs_br == 0 && abs_bi == 0) return {static_cast<T>(ar / abs_br), static_cast<T>(ai / abs_br)};
    if (abs_br >= abs_bi) {
      const Wide ratio = bi / br;
      const Wide divisor = br + bi * ratio;
      return {static_cast<T>((ar + ai * ratio) / divisor), static_cast<T>((ai - ar * ratio) / divisor)};
    }
    const Wide ratio = br / bi;
    const Wide divisor = br * ratio + bi;
    return {static_cast<T>((ar * ratio + ai) / divisor), static_cast<T>((ai * ratio - ar) / divisor)};
  }

  // With a real number on one side.
  KEYWAY_HD friend constexpr complex operator+(complex a, T b) { return {a.real_ + b, a.imag_}; }
  KEYWAY_HD friend constexpr complex operator+(T a, complex b) { return {a + b.real_, b.imag_}; }
  KEYWAY_HD friend constexpr complex operator-(complex a, T b) { return {a.real_ - b, a.imag_}; }
  KEYWAY_HD friend constexpr complex operator-(T a, complex b) { return {a - b.real_, -b.imag_}; }
  KEYWAY_HD friend constexpr complex operator*(complex a, T b) { return {a.real_ * b, a.imag_ * b}; }
  KEYWAY_HD friend constexpr complex operator*(T a, complex b) { return {a * b.real_, a * b.imag_}; }
  KEYWAY_HD friend constexpr complex operator/(complex a, T b) { return {a.real_ / b, a.imag_ / b}; }
  KEYWAY_HD friend constexpr complex operator/(T a, complex b) { return complex(a) / b; }

  KEYWAY_HD friend constexpr bool operator==(complex a, complex b) { return a.real_ == b.real_ && a.imag_ == b.imag_; }

 private:
  using Wide = std::conditional_t<std::same_as<T, Half>, float, T>;
  T real_;
  T imag_;
};

template <ComplexPart T>
KEYWAY_HD constexpr T real(complex<T> z) {
  return z.real();
}
template <ComplexPart T>
KEYWAY_HD constexpr T imag(complex<T> z) {
  return z.imag();
}
template <ComplexPart T>
KEYWAY_HD constexpr complex<T> conj(complex<T> z) {
  return {z.real(), -z.imag()};
}
// The squared magnitude.
template <ComplexPart T>
KEYWAY_HD constexpr T norm(complex<T> z) {
  return z.real() * z.real() + z.imag() * z.imag();
}
// The magnitude, without overflow on the way.
template <ComplexPart T>
KEYWAY_HD T abs(complex<T> z) {
  if constexpr (std::same_as<T, Half>) {
    return T(std::hypot(static_cast<float>(z.real()), static_cast<float>(z.imag())));
  } else {
    return std::hypot(z.real(), z.imag());
  }
}
// The angle, in [-pi, pi].
template <ComplexPart T>
KEYWAY_HD T arg(complex<T> z) {
  if constexpr (std::same_as<T, Half>) {
    return T(std::atan2(static_cast<float>(z.imag()), static_cast<float>(z.real())));
  } else {
    return std::atan2(z.imag(), z.real());
  }
}

// As Python writes it: "(1+2j)", "2j", "(-0-1.5j)".
template <ComplexPart T>
std::string to_string(complex<T> z) {
  const auto text = [](T x) {
    return detail::shortest_text(static_cast<double>(x),
                                 [](double a, double b) { return static_cast<double>(static_cast<T>(a)) == b; });
  };
  return detail::complex_text(text(z.real()), text(z.imag()));
}

}  // namespace keyway::inline v1
