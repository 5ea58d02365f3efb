// Operators of a library out of tree on emulated devices, beside what the suite makes of their entries.
#include <keyway/core/device/stream_guard.h>
#include <keyway/keyway.h>
#include <keyway/tests/backends/cuda/has_device.h>
#include <keyway/tests/catch.h>

#include <myops/ops/my_ops.h>

using namespace keyway;

TEST_CASE("kernels of a library run in the current stream, and gradients go through them") {
  REQUIRE(testing::has_device());
  const Stream stream = new_stream(Device(kCUDA, 0));
  const StreamGuard guard(stream);
  const Tensor x = arange(1, 5, TensorOptions(kDouble)).to(Device(kCUDA, 0)).requires_grad_();
  const Tensor y = myops::reversed(myops::cube(x));
  y.sum().backward();
  CHECK(equal(y.detach().to(kCPU), arange(4, 0, -1, TensorOptions(kDouble)).pow(3)));
  CHECK(equal(x.grad().to(kCPU), arange(1, 5, TensorOptions(kDouble)).square() * 3));
}

TEST_CASE("what a library's kernel refuses is an error of the next synchronisation, with the operator's name") {
  REQUIRE(testing::has_device());
  const Device device(kCUDA, 0);
  (void)myops::root(ones({3}, device).neg());
  CHECK(testing::error_of([&] { synchronize(device); }) == "myops::root: a negative number has no root");
  synchronize(device);
}

TEST_CASE("a library's view of a tensor on a device shares its memory") {
  REQUIRE(testing::has_device());
  const Tensor base = arange(5, TensorOptions(kDouble)).to(Device(kCUDA, 0));
  myops::every_second(base).mul_(10);
  const Tensor expected = arange(5, TensorOptions(kDouble));
  for (const std::int64_t at : {0, 2, 4}) expected[at].mul_(10);
  CHECK(equal(base.to(kCPU), expected));
}
