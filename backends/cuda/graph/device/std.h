// What functors use of the standard library, for NVRTC, which has none: it finds this under the name of each of their
// headers. Real functions are CUDA's own, which nvcc's <cmath> names too. Read by NVRTC alone.
#pragma once

namespace std {

using int8_t = signed char;
using int16_t = short;
using int32_t = int;
using int64_t = long;
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using uint64_t = unsigned long;
using size_t = decltype(sizeof(0));
using ptrdiff_t = long;
using nullptr_t = decltype(nullptr);

template <bool value>
struct bool_constant {
  static constexpr bool value_of = value;
};

// ---- <type_traits>, <concepts> ----

template <typename A, typename B>
inline constexpr bool is_same_v = false;
template <typename A>
inline constexpr bool is_same_v<A, A> = true;
template <typename A, typename B>
concept same_as = is_same_v<A, B> && is_same_v<B, A>;

template <bool first, typename A, typename B>
struct conditional {
  using type = A;
};
template <typename A, typename B>
struct conditional<false, A, B> {
  using type = B;
};
template <bool first, typename A, typename B>
using conditional_t = typename conditional<first, A, B>::type;

template <typename T>
struct remove_cv {
  using type = T;
};
template <typename T>
struct remove_cv<const T> {
  using type = T;
};
template <typename T>
using remove_cv_t = typename remove_cv<T>::type;
template <typename T>
struct remove_reference {
  using type = T;
};
template <typename T>
struct remove_reference<T&> {
  using type = T;
};
template <typename T>
struct remove_reference<T&&> {
  using type = T;
};
template <typename T>
using remove_reference_t = typename remove_reference<T>::type;
template <typename T>
using remove_cvref_t = remove_cv_t<remove_reference_t<T>>;
template <typename T>
using remove_const_t = remove_cv_t<T>;
template <typename T>
using type_identity_t = T;

namespace detail {
template <typename T, typename... All>
inline constexpr bool kIsOneOf = (is_same_v<remove_cv_t<T>, All> || ...);
template <typename T>
inline constexpr bool kIsSigned = kIsOneOf<T, signed char, short, int, long, long long>;
template <typename T>
inline constexpr bool kIsUnsigned =
    kIsOneOf<T, unsigned char, unsigned short, unsigned int, unsigned long, unsigned long long>;
}  // namespace detail

template <typename T>
inline constexpr bool is_floating_point_v = detail::kIsOneOf<T, float, double>;
template <typename T>
inline constexpr bool is_integral_v = detail::kIsSigned<T> || detail::kIsUnsigned<T> || detail::kIsOneOf<T, bool, char>;
template <typename T>
inline constexpr bool is_arithmetic_v = is_integral_v<T> || is_floating_point_v<T>;
template <typename T>
inline constexpr bool is_signed_v = detail::kIsSigned<T> || detail::kIsOneOf<T, char, float, double>;
template <typename T>
inline constexpr bool is_unsigned_v = detail::kIsUnsigned<T> || detail::kIsOneOf<T, bool>;
template <typename T>
inline constexpr bool is_void_v = is_same_v<remove_cv_t<T>, void>;
template <typename T>
inline constexpr bool is_trivially_copyable_v = __is_trivially_copyable(T);
template <typename Base, typename T>
inline constexpr bool is_base_of_v = __is_base_of(Base, T);
template <typename Base, typename T>
concept derived_from = is_base_of_v<Base, T>;

template <typename T>
concept floating_point = is_floating_point_v<T>;
template <typename T>
concept integral = is_integral_v<T>;
template <typename T>
concept signed_integral = integral<T> && is_signed_v<T>;
template <typename T>
concept unsigned_integral = integral<T> && !is_signed_v<T>;
template <typename From, typename To>
concept convertible_to = requires(From (&from)()) {
  static_cast<To>(from());
};

namespace detail {
template <typename T>
auto unsigned_of() {
  if constexpr (sizeof(T) == 1) {
    return static_cast<unsigned char>(0);
  } else if constexpr (sizeof(T) == 2) {
    return static_cast<unsigned short>(0);
  } else if constexpr (sizeof(T) == 4) {
    return 0u;
  } else {
    return 0ul;
  }
}
template <typename T>
auto signed_of() {
  if constexpr (sizeof(T) == 1) {
    return static_cast<signed char>(0);
  } else if constexpr (sizeof(T) == 2) {
    return static_cast<short>(0);
  } else if constexpr (sizeof(T) == 4) {
    return 0;
  } else {
    return 0l;
  }
}
}  // namespace detail
template <typename T>
using make_unsigned_t = decltype(detail::unsigned_of<T>());
template <typename T>
using make_signed_t = decltype(detail::signed_of<T>());

template <typename T>
constexpr T&& forward(remove_reference_t<T>& x) {
  return static_cast<T&&>(x);
}
template <typename T>
constexpr remove_reference_t<T>&& move(T&& x) {
  return static_cast<remove_reference_t<T>&&>(x);
}

// ---- <limits> ----

enum float_denorm_style { denorm_indeterminate = -1, denorm_absent = 0, denorm_present = 1 };
enum float_round_style { round_indeterminate = -1, round_toward_zero = 0, round_to_nearest = 1 };

template <typename T>
struct numeric_limits {
  static constexpr bool is_specialized = is_integral_v<T>, is_signed = is_signed_v<T>, is_integer = true,
                        has_infinity = false, has_quiet_NaN = false;
  static constexpr int digits = sizeof(T) * 8 - (is_signed ? 1 : 0);
  static constexpr T max() {
    if constexpr (is_same_v<T, bool>) {
      return true;
    } else {
      return is_signed ? static_cast<T>(static_cast<make_unsigned_t<T>>(-1) >> 1) : static_cast<T>(-1);
    }
  }
  static constexpr T min() { return is_signed ? static_cast<T>(-max() - 1) : T(0); }
  static constexpr T lowest() { return min(); }
};
template <>
struct numeric_limits<float> {
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false, has_infinity = true,
                        has_quiet_NaN = true;
  static constexpr int digits = 24, max_exponent = 128, min_exponent = -125;
  static constexpr float max() { return 0x1.fffffep127f; }
  static constexpr float min() { return 0x1p-126f; }
  static constexpr float lowest() { return -max(); }
  static constexpr float epsilon() { return 0x1p-23f; }
  static constexpr float denorm_min() { return 0x1p-149f; }
  static constexpr float infinity() { return __builtin_bit_cast(float, 0x7f800000u); }
  static constexpr float quiet_NaN() { return __builtin_bit_cast(float, 0x7fc00000u); }
};
template <>
struct numeric_limits<double> {
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false, has_infinity = true,
                        has_quiet_NaN = true;
  static constexpr int digits = 53, max_exponent = 1024, min_exponent = -1021;
  static constexpr double max() { return 0x1.fffffffffffffp1023; }
  static constexpr double min() { return 0x1p-1022; }
  static constexpr double lowest() { return -max(); }
  static constexpr double epsilon() { return 0x1p-52; }
  static constexpr double denorm_min() { return 0x1p-1074; }
  static constexpr double infinity() { return __builtin_bit_cast(double, 0x7ff0000000000000ul); }
  static constexpr double quiet_NaN() { return __builtin_bit_cast(double, 0x7ff8000000000000ul); }
};

// ---- <cmath>, <algorithm>, <bit> ----

using ::abs;
using ::acos;
using ::acosh;
using ::asin;
using ::asinh;
using ::atan;
using ::atan2;
using ::atanh;
using ::cbrt;
using ::ceil;
using ::copysign;
using ::cos;
using ::cosh;
using ::erf;
using ::erfc;
using ::exp;
using ::exp2;
using ::expm1;
using ::fabs;
using ::floor;
using ::fma;
using ::fmax;
using ::fmin;
using ::fmod;
using ::frexp;
using ::hypot;
using ::isfinite;
using ::isinf;
using ::isnan;
using ::ldexp;
using ::lgamma;
using ::log;
using ::log10;
using ::log1p;
using ::log2;
using ::modf;
using ::nearbyint;
using ::nextafter;
using ::pow;
using ::rint;
using ::round;
using ::signbit;
using ::sin;
using ::sinh;
using ::sqrt;
using ::tan;
using ::tanh;
using ::tgamma;
using ::trunc;

template <typename T>
constexpr const T& max(const T& a, const T& b) {
  return a < b ? b : a;
}
template <typename T>
constexpr const T& min(const T& a, const T& b) {
  return b < a ? b : a;
}
template <typename T>
constexpr const T& clamp(const T& x, const T& low, const T& high) {
  return x < low ? low : high < x ? high : x;
}
template <typename To, typename From>
constexpr To bit_cast(const From& from) {
  return __builtin_bit_cast(To, from);
}
constexpr int bit_width(unsigned int x) {
  int width = 0;
  for (; x != 0; x >>= 1) ++width;
  return width;
}

// ---- <optional>, <string_view>, <string>, <tuple>, <functional> ----

template <typename T>
struct optional {
  T value{};
  bool given = false;
  constexpr optional() = default;
  constexpr optional(const T& number) : value(number), given(true) {}
  constexpr explicit operator bool() const { return given; }
  constexpr const T& operator*() const { return value; }
};

class string_view {
 public:
  constexpr string_view() = default;
  constexpr string_view(const char* text) : text_(text) {}
  friend constexpr bool operator==(string_view a, string_view b) {
    const char* x = a.text_;
    const char* y = b.text_;
    while (*x != 0 && *x == *y) ++x, ++y;
    return *x == *y;
  }

 private:
  const char* text_ = "";
};
class string;  // named, and never made

template <typename... T>
struct tuple {};
template <size_t i, typename Tuple>
struct tuple_element;
template <size_t i, typename First, typename... Rest>
struct tuple_element<i, tuple<First, Rest...>> : tuple_element<i - 1, tuple<Rest...>> {};
template <typename First, typename... Rest>
struct tuple_element<0, tuple<First, Rest...>> {
  using type = First;
};
template <size_t i, typename Tuple>
using tuple_element_t = typename tuple_element<i, Tuple>::type;

template <typename T>
struct hash;

}  // namespace std

// Complex numbers are computed by kernels that nvcc compiles: here the functions have names alone.
namespace thrust {
template <typename T>
struct complex {
  complex(T real, T imag);
  T real() const;
  T imag() const;
};
#define KEYWAY_COMPLEX_FUNCTION(name) \
  template <typename T>               \
  complex<T> name(const complex<T>& z);
KEYWAY_COMPLEX_FUNCTION(exp)
KEYWAY_COMPLEX_FUNCTION(log)
KEYWAY_COMPLEX_FUNCTION(log10)
KEYWAY_COMPLEX_FUNCTION(sqrt)
KEYWAY_COMPLEX_FUNCTION(sin)
KEYWAY_COMPLEX_FUNCTION(cos)
KEYWAY_COMPLEX_FUNCTION(tan)
KEYWAY_COMPLEX_FUNCTION(asin)
KEYWAY_COMPLEX_FUNCTION(acos)
KEYWAY_COMPLEX_FUNCTION(atan)
KEYWAY_COMPLEX_FUNCTION(sinh)
KEYWAY_COMPLEX_FUNCTION(cosh)
KEYWAY_COMPLEX_FUNCTION(tanh)
KEYWAY_COMPLEX_FUNCTION(asinh)
KEYWAY_COMPLEX_FUNCTION(acosh)
KEYWAY_COMPLEX_FUNCTION(atanh)
#undef KEYWAY_COMPLEX_FUNCTION
template <typename T>
complex<T> pow(const complex<T>& x, const complex<T>& y);
}  // namespace thrust
