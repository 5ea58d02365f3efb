#include <keyway/core/base/number_text.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>

namespace keyway::inline v1::detail {
namespace {

// "[-]d[.ddd]e[+-]dd" in Python's layout: an exponent only below 1e-4 and from 1e16 on.
std::string layout(std::string_view scientific) {
  const std::size_t e = scientific.find('e');
  const int exponent = std::atoi(scientific.data() + e + 1);
  if (exponent < -4 || exponent >= 16) return std::string(scientific);
  std::string text(scientific[0] == '-' ? "-" : "");
  std::string digits;
  for (const char c : scientific.substr(0, e)) {
    if (c >= '0' && c <= '9') digits += c;
  }
  const int point = exponent + 1;  // digits before the decimal point
  if (point <= 0) return text + "0." + std::string(static_cast<std::size_t>(-point), '0') + digits;
  const auto whole = static_cast<std::size_t>(point);
  if (digits.size() <= whole) return text + digits + std::string(whole - digits.size(), '0') + ".0";
  return text + digits.substr(0, whole) + "." + digits.substr(whole);
}

}  // namespace

std::string python_repr(double x) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x < 0 ? "-inf" : "inf";
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer - 1, x, std::chars_format::scientific);
  *end.ptr = '\0';
  return layout({buffer, end.ptr});
}

std::string shortest_text(double x, bool (*same)(double, double)) {
  if (!std::isfinite(x)) return python_repr(x);
  for (int digits = 0; digits < 17; ++digits) {
    char buffer[40];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, x, std::chars_format::scientific, digits);
    double value = 0;
    std::from_chars(buffer, end.ptr, value);
    if (same(value, x)) return python_repr(value);
  }
  return python_repr(x);
}

std::string complex_text(std::string real, std::string imag) {
  const bool only_imag = real == "0.0";
  for (std::string* part : {&real, &imag}) {
    if (part->ends_with(".0")) part->resize(part->size() - 2);
  }
  if (only_imag) return imag + "j";
  return "(" + real + (imag.starts_with('-') ? "" : "+") + imag + "j)";
}

}  // namespace keyway::inline v1::detail
