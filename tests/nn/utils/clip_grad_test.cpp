#include <keyway/autograd/variable.h>
#include <keyway/nn/utils/clip_grad.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/nn/values.h>

#include <limits>

using namespace keyway;
using keyway::testing::error_of;
using keyway::testing::tensor_of;
using keyway::testing::values_of;

namespace {

Tensor parameter_with(const std::vector<double>& grad) {
  const auto size = static_cast<std::int64_t>(grad.size());
  const Tensor parameter = keyway::zeros({size}, kDouble).requires_grad_();
  autograd::set_grad(parameter, tensor_of(grad, {size}));
  return parameter;
}

}  // namespace

TEST_CASE("gradients are scaled to the norm, taken over all of them") {
  const Tensor a = parameter_with({3, 0}), b = parameter_with({4}), none = keyway::zeros({2}).requires_grad_();
  CHECK(nn::utils::clip_grad_norm_({a, b, none}, 1) == Approx(5));
  CHECK(values_of(a.grad())[0] == Approx(0.6));
  CHECK(values_of(b.grad())[0] == Approx(0.8));
  CHECK(!none.grad().defined());
}

TEST_CASE("gradients below the norm stay as they are") {
  const Tensor a = parameter_with({0.3, 0.4});
  CHECK(nn::utils::clip_grad_norm_({a}, 1) == Approx(0.5));
  CHECK(values_of(a.grad()) == std::vector<double>{0.3, 0.4});
}

TEST_CASE("a norm that is not finite is an error where asked for") {
  const Tensor a = parameter_with({std::numeric_limits<double>::infinity()});
  CHECK(error_of([&] { nn::utils::clip_grad_norm_({a}, 1, true); }) ==
        "clip_grad_norm_: the norm of the gradients is inf");
}
