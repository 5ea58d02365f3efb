// nonzero of CUDA over what one team and what several count, against the CPU's.
#include <keyway/core/device/stream_guard.h>
#include <keyway/tests/backends/cuda/driver/compared.h>
#include <keyway/tests/catch.h>

using namespace keyway;
using namespace keyway::testing;

namespace {

void check(const Tensor& x) {
  INFO(x.numel() << " elements of " << to_string(x.dtype()) << " in " << x.dim() << " dimensions");
  const Tensor got = nonzero(x.to(kCUDA, x.dtype()));
  CHECK(got.device() == Device("cuda:0"));
  CHECK(same_bits(got, nonzero(x)));
}

}  // namespace

TEST_CASE("CUDA finds what is not zero, in order, whatever the number of elements") {
  if (lacks_device()) return;
  for (const std::int64_t n : {0, 1, 2, 1279, 1281, 5000, 16384, 20'000}) {
    check(scattered({n}, 0, 1).to(kBool));
    check(scattered({n}, -1, 1));
    check(scattered({n}, 0, 400).to(kFloat));
    check(full({n}, 0, TensorOptions().dtype(kInt)));
    check(full({n}, 1, TensorOptions().dtype(kHalf)));
  }
}

TEST_CASE("CUDA finds it in all dimensions, and in none") {
  if (lacks_device()) return;
  check(scattered({30, 40, 50}, 0, 2));
  check(scattered({30, 40, 50}, 0, 2).transpose(0, 2));
  check(scattered({7, 1, 300, 20}, -1, 1).to(kDouble).slice(2, 1, 300, 2));
  check(scattered({300, 2}, 0, 1).to(kBool).slice(0, 100));
  check(full({}, 3, TensorOptions().dtype(kInt)));
  check(full({}, 0, TensorOptions().dtype(kInt)));
  check(scattered({4, 0, 5}, 0, 1));
}

TEST_CASE("CUDA finds it on the current stream") {
  if (lacks_device()) return;
  const StreamGuard guard(new_stream(kCUDA));
  check(scattered({3000}, 0, 1));
}
