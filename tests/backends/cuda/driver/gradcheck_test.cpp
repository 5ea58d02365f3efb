// gradcheck of functions whose results are on a CUDA device, whose memory the host does not read.
#include <keyway/autograd/gradcheck.h>
#include <keyway/tests/backends/cuda/driver/compared.h>
#include <keyway/tests/catch.h>

using namespace keyway;
using namespace keyway::testing;

TEST_CASE("gradients of results on CUDA are compared with differences") {
  if (lacks_device()) return;
  const auto cube = [](const autograd::variable_list& given) -> autograd::variable_list {
    const Tensor there = given[0].to(kCUDA, kDouble);
    return {there * there * there};
  };
  Tensor x = arange(1, 5, TensorOptions().dtype(kDouble));
  x.requires_grad_(true);
  CHECK(autograd::gradcheck(cube, {x}));
  CHECK(autograd::gradgradcheck(cube, {x}));
  const auto wrong = [](const autograd::variable_list& given) -> autograd::variable_list {
    const Tensor there = given[0].to(kCUDA, kDouble);
    return {there * there.detach()};
  };
  CHECK(error_of([&] { autograd::gradcheck(wrong, {x}); }).find("difference quotient") != std::string::npos);
}
