#include <keyway/core/base/number_text.h>
#include <keyway/tests/catch.h>

#include <cmath>
#include <limits>

using keyway::detail::python_repr;

TEST_CASE("doubles print as Python's repr prints them") {
  CHECK(python_repr(0.0) == "0.0");
  CHECK(python_repr(-0.0) == "-0.0");
  CHECK(python_repr(1.0) == "1.0");
  CHECK(python_repr(0.1) == "0.1");
  CHECK(python_repr(-2.5) == "-2.5");
  CHECK(python_repr(123456.789) == "123456.789");
  CHECK(python_repr(1e15) == "1000000000000000.0");
  CHECK(python_repr(9999999999999998.0) == "9999999999999998.0");
  CHECK(python_repr(1e16) == "1e+16");
  CHECK(python_repr(1.5e300) == "1.5e+300");
  CHECK(python_repr(0.0001) == "0.0001");
  CHECK(python_repr(0.00001) == "1e-05");
  CHECK(python_repr(1.25e-7) == "1.25e-07");
  CHECK(python_repr(5e-324) == "5e-324");
  CHECK(python_repr(std::numeric_limits<double>::max()) == "1.7976931348623157e+308");
  CHECK(python_repr(INFINITY) == "inf");
  CHECK(python_repr(-INFINITY) == "-inf");
  CHECK(python_repr(NAN) == "nan");
  CHECK(python_repr(-NAN) == "nan");
}
