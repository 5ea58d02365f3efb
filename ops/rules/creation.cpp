#include <keyway/core/base/error.h>
#include <keyway/ops/rules/creation.h>

#include <cmath>

namespace keyway::inline v1::rules {

namespace {

// How many numbers there are from 0 up to `distance` in steps, rounded up. Both have one sign, or distance is 0.
std::int64_t count_steps(std::int64_t start, std::int64_t end, std::int64_t step) {
  __extension__ using Wide = __int128;
  const Wide distance = Wide{end} - start;
  const Wide count = distance == 0 ? 0 : (distance - (step > 0 ? 1 : -1)) / step + 1;
  KEYWAY_CHECK(count <= INT64_MAX, "from {} to {} in steps of {} are more than 2^63 - 1 numbers", start, end, step);
  return static_cast<std::int64_t>(count);
}

std::int64_t count_steps(double start, double end, double step) {
  const double count = std::ceil((end - start) / step);
  KEYWAY_CHECK(count < 0x1p63, "from {} to {} in steps of {} are more than 2^63 - 1 numbers", start, end, step);
  return static_cast<std::int64_t>(count);
}

}  // namespace

OutputMeta arange(const Scalar& start, const Scalar& end, const Scalar& step, std::optional<ScalarType>,
                  std::optional<Layout>, std::optional<Device>, std::optional<bool> pin_memory) {
  const bool integers = start.is_integral(true) && end.is_integral(true) && step.is_integral(true);
  // Numbers with a point say how many there are, whatever the dtype then makes of them.
  if (!integers) return meta_of_new({count_steps(start.to<double>(), end.to<double>(), step.to<double>())}, pin_memory);
  return meta_of_new({count_steps(start.to<std::int64_t>(), end.to<std::int64_t>(), step.to<std::int64_t>())},
                     pin_memory);
}

}  // namespace keyway::inline v1::rules
