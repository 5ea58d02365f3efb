// Numbers as Python writes them.
#pragma once

#include <keyway/core/base/macros.h>

#include <string>

namespace keyway::inline v1::detail {

// Python's repr: the shortest text that reads back as `x`: "1.0", "1e-05", "1e+16", "-0.0", "inf", "nan".
KEYWAY_API std::string python_repr(double x);

// The text with the fewest digits for which same(text's value, x) holds, e.g. because both round to one Half.
// Requires: same(x, x) unless x is NaN.
KEYWAY_API std::string shortest_text(double x, bool (*same)(double, double));

// A complex number from the texts of its parts: "(1+2j)"; only "2j" if the real part is "0.0".
KEYWAY_API std::string complex_text(std::string real, std::string imag);

}  // namespace keyway::inline v1::detail
