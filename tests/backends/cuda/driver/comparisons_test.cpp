// Comparisons of CUDA between dtypes that have no common one.
#include <keyway/tests/backends/cuda/driver/against_cpu.h>

#include <cstdint>
#include <vector>

using namespace keyway;
using namespace keyway::testing;

namespace {

// Integers that floats round, small ones, and both ends of what 64 bits have.
Tensor integers_of(ScalarType dtype) {
  const Tensor powers = ones({63}, TensorOptions().dtype(kLong)).bitwise_left_shift(arange(63));
  const Tensor near = cat({powers - 1, powers, powers + 1}), all = cat({near, -near, -near - 1});
  return all.to(dtype).reshape({9, 63});
}

}  // namespace

TEST_CASE("CUDA compares values of all dtypes as the CPU does") {
  if (lacks_device()) return;
  for (const ScalarType dtype : {kLong, kUInt64, kInt}) {
    const Tensor x = integers_of(dtype);
    for (const ScalarType other : {kDouble, kFloat, kHalf, kLong, kUInt64}) {
      INFO(to_string(dtype) << " " << to_string(other));
      const Tensor y = integers_of(other);
      for (const Tensor& beside : {y, y.flip({1}), y.slice(0, 4, 5)}) {
        check([&](const Placement& at) { return eq(at(x), at(beside)); });
        check([&](const Placement& at) { return lt(at(x), at(beside)); });
        check([&](const Placement& at) { return ge(at(beside), at(x)); });
        check([&](const Placement& at) { return le(at(x).transpose(0, 1), at(beside).transpose(0, 1)); });
      }
      check([&](const Placement& at) { return gt(at(x), y.select(0, 3).select(0, 40)); });
    }
    for (const Scalar& number : {Scalar(0.5), Scalar(0x1p53), Scalar(-1), Scalar(~std::uint64_t{0}), Scalar(300)}) {
      check([&](const Placement& at) { return gt(at(x), number); });
      check([&](const Placement& at) { return ne(at(x), number); });
    }
  }
}
