#include <keyway/core/base/number_text.h>
#include <keyway/core/dtype/scalar.h>

#include <cmath>
#include <complex>
#include <string>

namespace keyway::inline v1 {

Scalar Scalar::operator-() const {
  KEYWAY_CHECK_AS(Type, kind_ != Kind::Bool, "Negation is not defined for bool; {} was given.", *this);
  if (kind_ == Kind::Complex) return complex<double>(-real_.d, -imag_);
  if (kind_ == Kind::Double) return -real_.d;
  if (kind_ == Kind::Int && real_.i != std::numeric_limits<std::int64_t>::min()) return -real_.i;
  // What is left: -2^63, whose negative is a uint64, and uint64, of which 2^63 alone has a negative.
  if (kind_ == Kind::Int) return std::uint64_t{1} << 63;
  KEYWAY_CHECK(real_.u == std::uint64_t{1} << 63, "-{} does not fit in int64.", *this);
  return std::numeric_limits<std::int64_t>::min();
}

Scalar Scalar::log() const {
  if (kind_ == Kind::Complex) return std::log(std::complex<double>(real_.d, imag_));
  return std::log(to<double>());
}

bool operator==(const Scalar& a, const Scalar& b) {
  using Kind = Scalar::Kind;
  if (a.imag_ != b.imag_) return false;
  const auto is_float = [](const Scalar& s) { return s.kind_ == Kind::Double || s.kind_ == Kind::Complex; };
  if (is_float(a) && is_float(b)) return a.real_.d == b.real_.d;
  if (!is_float(a) && !is_float(b)) {
    return (a.kind_ == Kind::Uint) == (b.kind_ == Kind::Uint) && a.real_.u == b.real_.u;
  }
  // A float equals an integer if it is whole, in range, and converts to it.
  const double d = is_float(a) ? a.real_.d : b.real_.d;
  const Scalar& whole = is_float(a) ? b : a;
  if (d != std::trunc(d)) return false;
  if (whole.kind_ == Kind::Uint) {
    std::uint64_t u = 0;
    return d > 0 && Scalar(d).try_to(u) && u == whole.real_.u;
  }
  std::int64_t i = 0;
  return Scalar(d).try_to(i) && i == whole.real_.i;
}

void Scalar::fail_conversion(ScalarType to) const {
  KEYWAY_CHECK(kind_ != Kind::Complex || imag_ == 0 || keyway::is_complex(to),
               "{} cannot become {}, which has no imaginary part; take its real part first", *this, to);
  KEYWAY_FAIL(Value, "{} is outside the range of {}", *this, to);
}

std::string to_string(const Scalar& scalar) {
  if (scalar.is_bool()) return scalar.to<bool>() ? "True" : "False";
  if (scalar.is_complex()) return to_string(scalar.to<complex<double>>());
  if (scalar.is_floating_point()) return detail::python_repr(scalar.to<double>());
  if (scalar.type() == ScalarType::UInt64) return std::to_string(scalar.to<std::uint64_t>());
  return std::to_string(scalar.to<std::int64_t>());
}

}  // namespace keyway::inline v1
