// Checks of numbers on the command line. CLI11's own take a -1 for a large number without a sign, and print the largest
// double in full.
#pragma once

#include <keyway/tools/keyway/command.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <system_error>

namespace keyway::inline v1::tools {

// NaN where the text is no number.
inline double number_of(const std::string& text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && rest == end ? number : std::numeric_limits<double>::quiet_NaN();
}

inline CLI::Validator above_0() {
  const auto check = [](const std::string& text) -> std::string {
    return number_of(text) > 0 && std::isfinite(number_of(text)) ? "" : "'" + text + "' is not a number above 0";
  };
  return {check, ""};
}

inline CLI::Validator not_negative() {
  const auto check = [](const std::string& text) -> std::string {
    return number_of(text) >= 0 ? "" : "'" + text + "' is not a number from 0 up";
  };
  return {check, ""};
}

}  // namespace keyway::inline v1::tools
