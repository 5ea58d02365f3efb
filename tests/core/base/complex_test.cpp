#include <keyway/core/base/complex.h>
#include <keyway/tests/catch.h>

#include <cmath>
#include <complex>
#include <limits>
#include <random>

using namespace keyway;

namespace {
// The reference: std::complex in long double.
using Reference = std::complex<long double>;
template <typename T>
Reference reference(complex<T> z) {
  return {static_cast<long double>(static_cast<double>(z.real())),
          static_cast<long double>(static_cast<double>(z.imag()))};
}
template <typename T>
double relative_error(complex<T> got, Reference expected) {
  return static_cast<double>(std::abs(reference(got) - expected) / std::abs(expected));
}
}  // namespace

TEMPLATE_TEST_CASE("complex arithmetic is within a few ulp of the exact result", "", Half, float, double) {
  using C = complex<TestType>;
  static_assert(std::is_trivially_copyable_v<C> && sizeof(C) == 2 * sizeof(TestType) && alignof(C) == sizeof(C));
  const double eps = static_cast<double>(std::numeric_limits<TestType>::epsilon());
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(0.25f, 2.0f);
  for (int i = 0; i < 1000; ++i) {
    const C a(TestType(uniform(random)), TestType(-uniform(random)));
    const C b(TestType(uniform(random)), TestType(uniform(random)));
    CHECK(relative_error(a * b, reference(a) * reference(b)) < 2 * eps);
    CHECK(relative_error(a / b, reference(a) / reference(b)) < 4 * eps);
    CHECK(relative_error(a / C(b.imag() * TestType(0.125f), b.real()),
                         reference(a) / reference(C(b.imag() * TestType(0.125f), b.real()))) < 4 * eps);
    CHECK(std::abs(reference(a + b) - (reference(a) + reference(b))) < 4 * eps);
    CHECK(std::abs(reference(a - b) - (reference(a) - reference(b))) < 4 * eps);
    CHECK(std::fabs(static_cast<double>(abs(a)) - static_cast<double>(std::abs(reference(a)))) < 3 * eps);
    CHECK(std::fabs(static_cast<double>(arg(a)) - static_cast<double>(std::arg(reference(a)))) < 2 * eps);
  }
}

TEST_CASE("complex arithmetic is constexpr and takes real numbers on either side") {
  using C = complex<float>;
  static_assert(C(1, 2) * C(3, 4) == C(-5, 10) && C(-5, 10) / C(3, 4) == C(1, 2));
  static_assert(C(1, 2) + 1 == C(2, 2) && 1 - C(1, 2) == C(0, -2) && C(1, 2) * 2 == C(2, 4) && C(2, 4) / 2 == C(1, 2));
  static_assert(-C(1, 2) == C(-1, -2) && conj(C(1, 2)) == C(1, -2) && norm(C(3, 4)) == 25 && real(C(3, 4)) == 3);
  static_assert(1 / C(0, 1) == C(0, -1));
  C z(1, 1);
  z += C(1, 0);
  z *= C(0, 1);
  z -= 1;
  z /= 2;
  CHECK(z == C(-1, 1));
}

TEST_CASE("division neither overflows nor underflows on its way") {
  const complex<double> big(1e300, 1e300), small(1e-300, -1e-300);
  CHECK(big / big == complex<double>(1, 0));
  CHECK(small / small == complex<double>(1, 0));
  const complex<double> by_zero = complex<double>(1, 2) / complex<double>(0, 0);
  CHECK((std::isinf(by_zero.real()) && std::isinf(by_zero.imag())));
  CHECK(std::isnan((complex<double>(0, 0) / complex<double>(0, 0)).real()));
}

TEST_CASE("complex numbers convert to wider parts implicitly, and to and from std::complex") {
  static_assert(std::is_convertible_v<complex<float>, complex<double>>);
  static_assert(!std::is_convertible_v<complex<double>, complex<float>>);
  static_assert(std::is_convertible_v<complex<Half>, complex<float>>);
  const std::complex<float> s = complex<float>(1, 2);
  const complex<float> z = std::complex<float>(3, 4);
  CHECK(s == std::complex<float>(1, 2));
  CHECK(z == complex<float>(3, 4));
  CHECK(static_cast<std::complex<double>>(z) == std::complex<double>(3, 4));
  CHECK(complex<Half>(complex<double>(0.1, 1e9)).real() == Half(0.1));
  CHECK(std::isinf(static_cast<float>(complex<Half>(complex<double>(0.1, 1e9)).imag())));
}

TEST_CASE("complex numbers print as in Python") {
  CHECK(to_string(complex<double>(1, 2)) == "(1+2j)");
  CHECK(to_string(complex<double>(0, -1.5)) == "-1.5j");
  CHECK(to_string(complex<double>(-0.0, 1)) == "(-0+1j)");
  CHECK(to_string(complex<double>(1e20, NAN)) == "(1e+20+nanj)");
  CHECK(to_string(complex<float>(0.1f, 0)) == "(0.1+0j)");
}
