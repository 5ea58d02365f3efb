// Scalar: one number of any dtype, as an operator's argument: alpha=1, value=0.5, 2j, True.
#pragma once

#include <keyway/core/base/error.h>
#include <keyway/core/base/macros.h>
#include <keyway/core/dtype/cpp_type.h>
#include <keyway/core/dtype/scalar_type.h>

#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

namespace keyway::inline v1 {

// float, double and every narrow float.
template <typename T>
concept FloatElement = std::floating_point<T> || NarrowFloatType<T> || std::same_as<T, Float8_e8m0fnu>;
// What a Scalar converts to: all element types that are numbers.
template <typename T>
concept NumberElement = ElementType<T> &&(std::integral<T> || FloatElement<T> || kIsComplex<T>);

// Holds a bool, an int64, a uint64 (only above int64's range), a double or a complex<double>, and converts
// implicitly from all arithmetic types, the narrow floats and complex numbers. Trivially copyable; 24 bytes.
class Scalar {
 public:
  // The integer 0.
  constexpr Scalar() = default;
  template <std::integral I>
  constexpr Scalar(I i) : kind_(std::same_as<I, bool> ? Kind::Bool : Kind::Int) {  // NOLINT
    if (static_cast<std::uint64_t>(i) > kMaxInt && std::is_unsigned_v<I>) {
      kind_ = Kind::Uint;
      real_ = {.u = static_cast<std::uint64_t>(i)};
    } else {
      real_ = {.i = static_cast<std::int64_t>(i)};
    }
  }
  template <FloatElement F>
  constexpr Scalar(F x) : kind_(Kind::Double), real_{.d = static_cast<double>(x)} {}  // NOLINT
  template <ComplexPart T>
  constexpr Scalar(complex<T> z)  // NOLINT
      : kind_(Kind::Complex), real_{.d = static_cast<double>(z.real())}, imag_(static_cast<double>(z.imag())) {}
  template <ForeignComplex Z>
  constexpr Scalar(const Z& z) : Scalar(complex<double>(z)) {}  // NOLINT

  // What it holds, as a dtype: Bool, Long, UInt64, Double or ComplexDouble.
  constexpr ScalarType type() const {
    switch (kind_) {
      case Kind::Bool: return ScalarType::Bool;
      case Kind::Int: return ScalarType::Long;
      case Kind::Uint: return ScalarType::UInt64;
      case Kind::Double: return ScalarType::Double;
      default: return ScalarType::ComplexDouble;
    }
  }
  constexpr bool is_bool() const { return kind_ == Kind::Bool; }
  constexpr bool is_integral(bool include_bool) const {
    return kind_ == Kind::Int || kind_ == Kind::Uint || (include_bool && kind_ == Kind::Bool);
  }
  constexpr bool is_floating_point() const { return kind_ == Kind::Double; }
  constexpr bool is_complex() const { return kind_ == Kind::Complex; }

  // The value as a T: bool (whether it is not zero), any integer, floating or complex element type.
  // Fractions are cut off towards zero; floats are rounded to nearest. Negative integers wrap in unsigned
  // types, where their magnitude fits. Errors (Value), which name value and dtype: a value outside T's range,
  // NaN or infinity where T has none, and a complex number with an imaginary part for a real T. Infinity
  // converts to any T that has it.
  template <NumberElement T>
  constexpr T to() const {
    T result{};
    if (!try_to(result)) [[unlikely]]
      fail_conversion(cpp_type_to_scalar_type<T>);
    return result;
  }
  // The same, but false instead of an error, and `result` unchanged.
  template <NumberElement T>
  constexpr bool try_to(T& result) const {
    if constexpr (std::same_as<T, bool>) {
      result = !is_zero();
      return true;
    } else if constexpr (kIsComplex<T>) {
      typename T::value_type re{}, im{};
      if (!real_part().try_to(re) || !narrow(imag_, im)) return false;
      result = T(re, im);
      return true;
    } else {
      if (kind_ == Kind::Complex && imag_ != 0) return false;
      switch (kind_) {
        case Kind::Bool:
        case Kind::Int: return narrow(real_.i, result);
        case Kind::Uint: return narrow(real_.u, result);
        default: return narrow(real_.d, result);
      }
    }
  }

  // PyTorch's spellings of the same.
  constexpr bool toBool() const { return to<bool>(); }
  constexpr std::uint8_t toByte() const { return to<std::uint8_t>(); }
  constexpr std::int8_t toChar() const { return to<std::int8_t>(); }
  constexpr std::int16_t toShort() const { return to<std::int16_t>(); }
  constexpr std::int32_t toInt() const { return to<std::int32_t>(); }
  constexpr std::int64_t toLong() const { return to<std::int64_t>(); }
  constexpr Half toHalf() const { return to<Half>(); }
  constexpr BFloat16 toBFloat16() const { return to<BFloat16>(); }
  constexpr float toFloat() const { return to<float>(); }
  constexpr double toDouble() const { return to<double>(); }
  constexpr complex<double> toComplexDouble() const { return to<complex<double>>(); }
  constexpr bool isBoolean() const { return is_bool(); }
  constexpr bool isIntegral(bool include_bool) const { return is_integral(include_bool); }
  constexpr bool isFloatingPoint() const { return is_floating_point(); }
  constexpr bool isComplex() const { return is_complex(); }

  // Integers stay integers; errors where the result leaves int64 (Value). Not for bool (Type).
  KEYWAY_API Scalar operator-() const;
  constexpr Scalar conj() const { return kind_ == Kind::Complex ? Scalar(complex<double>(real_.d, -imag_)) : *this; }
  // The natural logarithm, of a complex number the complex one; of a negative real number NaN.
  KEYWAY_API Scalar log() const;

  // Whether both are the same number, exactly and whatever they are held as: 1 == 1.0 == True; NaN equals
  // nothing.
  KEYWAY_API friend bool operator==(const Scalar& a, const Scalar& b);

 private:
  enum class Kind : std::uint8_t { Int, Bool, Uint, Double, Complex };
  union Real {
    std::int64_t i;
    std::uint64_t u;
    double d;
  };
  static constexpr std::uint64_t kMaxInt = std::numeric_limits<std::int64_t>::max();

  constexpr Scalar real_part() const { return kind_ == Kind::Complex ? Scalar(real_.d) : *this; }
  constexpr bool is_zero() const {
    if (kind_ == Kind::Double || kind_ == Kind::Complex) return real_.d == 0 && imag_ == 0;
    return kind_ == Kind::Uint ? false : real_.i == 0;
  }

  // From one of the kinds to a real T; false if out of range.
  template <typename From, typename T>
  static constexpr bool narrow(From from, T& result) {
    if constexpr (!std::integral<T>) {
      using Limits = std::numeric_limits<T>;
      const double x = static_cast<double>(from);
      const bool nan = x != x;
      const bool infinite = !nan && x - x != 0;
      if (infinite && !Limits::has_infinity) return false;
      if (!infinite && (x > static_cast<double>(Limits::max()) || x < static_cast<double>(Limits::lowest()))) {
        return false;
      }
      result = static_cast<T>(from);
      return true;
    } else if constexpr (std::integral<From>) {
      const auto bits = static_cast<std::uint64_t>(from);
      const bool negative = std::cmp_less(from, 0);
      return narrow_integer(negative, negative ? 0 - bits : bits, result);
    } else {
      const double magnitude = from < 0 ? -from : from;
      if (!(magnitude < 0x1p64)) return false;
      return narrow_integer(from < 0, static_cast<std::uint64_t>(magnitude), result);
    }
  }
  template <std::integral T>
  static constexpr bool narrow_integer(bool negative, std::uint64_t magnitude, T& result) {
    const std::uint64_t below_zero = std::is_signed_v<T> && negative ? 1 : 0;
    if (magnitude > static_cast<std::uint64_t>(std::numeric_limits<T>::max()) + below_zero) return false;
    result = static_cast<T>(negative ? 0 - magnitude : magnitude);
    return true;
  }

  [[noreturn]] KEYWAY_API KEYWAY_COLD void fail_conversion(ScalarType to) const;

  Kind kind_ = Kind::Int;
  Real real_{.i = 0};
  double imag_ = 0;
};
static_assert(sizeof(Scalar) == 24 && std::is_trivially_copyable_v<Scalar>);

// As Python writes it: "True", "3", "0.5", "inf", "(1+2j)".
KEYWAY_API std::string to_string(const Scalar& scalar);

}  // namespace keyway::inline v1
