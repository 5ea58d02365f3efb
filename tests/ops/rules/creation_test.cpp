#include <keyway/ops/rules/creation.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/ops/rules/meta.h>

#include <cstdint>
#include <limits>
#include <optional>

using namespace keyway;
using namespace keyway::testing;

namespace {

std::int64_t arange_count(const Scalar& start, const Scalar& end, const Scalar& step,
                          std::optional<ScalarType> dtype = std::nullopt) {
  return rules::arange(start, end, step, dtype, std::nullopt, std::nullopt, std::nullopt).sizes[0];
}

}  // namespace

TEST_CASE("arange counts integers as a loop does") {
  for (std::int64_t start = -6; start <= 6; ++start)
    for (std::int64_t end = -6; end <= 6; ++end)
      for (std::int64_t step = -4; step <= 4; ++step) {
        if (step == 0 || (step > 0 ? start > end : start < end)) continue;
        std::int64_t count = 0;
        for (std::int64_t i = start; step > 0 ? i < end : i > end; i += step) ++count;
        CAPTURE(start, end, step);
        CHECK(arange_count(start, end, step) == count);
        CHECK(arange_count(static_cast<double>(start), end, step) == count);
      }
}

TEST_CASE("arange is right at the ends of int64 and refuses what has too many numbers") {
  CHECK(arange_count(kMin, kMax, kMax) == 3);  // kMin, -1, kMax - 1
  CHECK(arange_count(kMax, kMin, kMin) == 2);
  CHECK(arange_count(0, kMax, 1) == kMax);
  CHECK(arange_count(kMin, 0, 2) == std::int64_t{1} << 62);
  CHECK(error_of([] { arange_count(kMin, kMax, 1); }).find("more than 2^63 - 1 numbers") != std::string::npos);
  CHECK(error_of([] { arange_count(0, 1e300, 1e-300); }).find("more than 2^63 - 1") != std::string::npos);
  CHECK(error_of([] { arange_count(0, 1e19, 1); }).find("more than 2^63 - 1") != std::string::npos);
}

TEST_CASE("arange rounds the number of fractions up, whatever the dtype") {
  CHECK(arange_count(0, 1, 0.3) == 4);
  CHECK(arange_count(0.5, 3, 1) == 3);
  CHECK(arange_count(0.5, 2.5, 1, ScalarType::Long) == 2);
  CHECK(arange_count(0.5, 4, 1.5, ScalarType::Long) == 3);
  CHECK(arange_count(0.0, -8.000001, -4.0, ScalarType::Long) == 3);
  CHECK(arange_count(0, 5, 1.5, ScalarType::Float) == 4);
  CHECK(arange_count(0, 5, 0.5, ScalarType::Long) == 10);
}
