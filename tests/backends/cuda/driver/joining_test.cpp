// cat and flip of CUDA on tensors of many blocks, of any layout.
#include <keyway/tests/backends/cuda/driver/against_cpu.h>

#include <cstdint>
#include <vector>

using namespace keyway;
using namespace keyway::testing;

TEST_CASE("CUDA joins and turns round tensors of many blocks") {
  if (lacks_device()) return;
  for (const ScalarType dtype : {kFloat, kByte, kComplexDouble}) {
    INFO(to_string(dtype));
    const Tensor x = values({30, 41, 17}, dtype), y = values({30, 5, 17}, kHalf), z = values({30, 17, 8}, dtype);
    check([&](const Placement& at) { return cat({at(x), at(y), at(z).transpose(1, 2), at(values({0}, kFloat))}, 1); });
    check([&](const Placement& at) { return cat({at(x).transpose(0, 2), at(x).transpose(0, 2)}, -1); });
    for (const std::vector<std::int64_t>& dims :
         {std::vector<std::int64_t>{}, {0}, {1}, {2}, {0, 2}, {1, 2}, {0, 1, 2}}) {
      check([&](const Placement& at) { return flip(at(x), dims); });
      check([&](const Placement& at) { return flip(at(x).transpose(0, 1).slice(2, 1, 16, 3), dims); });
    }
  }
}

TEST_CASE("CUDA turns round a tensor without dimensions, in its only one") {
  if (lacks_device()) return;
  for (const std::vector<std::int64_t>& dims : {std::vector<std::int64_t>{}, {0}, {-1}}) {
    check([&](const Placement& at) { return flip(at(values({}, kFloat)), dims); });
  }
}
