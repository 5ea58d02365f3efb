// The generated suite on a CUDA device, where there is one.
#include <keyway/tests/backends/cuda/has_device.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/ops/device.h>
#include <keyway/tests/ops/op_cases.h>

using namespace keyway;
using namespace keyway::testing;

TEST_CASE("CUDA gives what the CPU gives, for every operator") {
  if (lacks_device()) return;
  const DeviceFigures figures = compare_device(Device(DeviceType::CUDA, 0));
  for (const std::string& problem : figures.problems) {
    INFO(problem);
    CHECK(false);
  }
  // A library may leave operators to the CPU.
  if (!kOpCases.of_library()) CHECK(figures.not_served.empty());
  CHECK(figures.operators > kOpCases.at_least(150));
}
