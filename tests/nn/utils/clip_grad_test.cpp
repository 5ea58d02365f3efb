#include <keyway/autograd/variable.h>
#include <keyway/dispatch/inspect/dispatch_recording.h>
#include <keyway/nn/utils/clip_grad.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/nn/values.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <memory>

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

TEST_CASE("the norm has the order that is asked for") {
  const double inf = std::numeric_limits<double>::infinity();
  const auto clip = [](double max_norm, double order) {
    const Tensor a = parameter_with({3, -4}), b = parameter_with({0, 12}), zero = parameter_with({0});
    const double norm = nn::utils::clip_grad_norm_({a, b, zero}, max_norm, order);
    CHECK(values_of(b.grad())[1] == Approx(12 * std::min(1.0, max_norm / norm)));
    CHECK(values_of(a.grad())[1] == Approx(-4 * std::min(1.0, max_norm / norm)));
    return norm;
  };
  CHECK(clip(1, 1) == Approx(19));
  CHECK(clip(1, 2) == Approx(13));
  CHECK(clip(1, 3) == Approx(std::cbrt(27 + 64 + 1728)));
  CHECK(clip(6, inf) == Approx(12));
  CHECK(clip(100, inf) == Approx(12));
  CHECK(clip(1, 0) == Approx(2));  // of the three, as PyTorch counts
  const Tensor a = parameter_with({3, -4}), b = parameter_with({2});
  CHECK(nn::utils::clip_grad_norm_({a, b}, 1, -inf) == Approx(2));
  CHECK(nn::utils::clip_grad_norm_({parameter_with({3, -4}), parameter_with({2})}, 10, -1) ==
        Approx(1 / (1 / 3.0 + 1 / 4.0 + 1 / 2.0)));
  CHECK(error_of([&] { nn::utils::clip_grad_norm_({a}, 1, std::nan("")); }).find("'norm_type' is nan") !=
        std::string::npos);
}

TEST_CASE("gradients below the norm stay as they are") {
  const Tensor a = parameter_with({0.3, 0.4});
  CHECK(nn::utils::clip_grad_norm_({a}, 1) == Approx(0.5));
  CHECK(values_of(a.grad()) == std::vector<double>{0.3, 0.4});
}

TEST_CASE("a norm that is not finite is an error where asked for") {
  const Tensor a = parameter_with({std::numeric_limits<double>::infinity()});
  CHECK(error_of([&] { nn::utils::clip_grad_norm_({a}, 1, 2, true); }) ==
        "clip_grad_norm_: the norm of the gradients is inf");
  CHECK(std::isinf(nn::utils::get_total_norm({a.grad()}).item<double>()));
  CHECK(error_of([&] { nn::utils::get_total_norm({a.grad()}, 2, true); }) ==
        "get_total_norm: the norm of the tensors is inf");
  CHECK(error_of([&] { nn::utils::get_total_norm({a.grad()}, std::numeric_limits<double>::quiet_NaN()); }) ==
        "get_total_norm: argument 'norm_type' is nan, which is no order of a norm");
}

TEST_CASE("a device is waited for once, however many gradients there are") {
  std::vector<Tensor> parameters;
  for (int i = 0; i < 16; ++i) parameters.push_back(parameter_with({3, 4}));
  for (const bool error_if_nonfinite : {false, true}) {
    const auto recorder = std::make_shared<DispatchRecorder>();
    {
      const ObserverHandle on = observe_calls(recorder);
      nn::utils::clip_grad_norm_(parameters, 1, 2, error_if_nonfinite);
    }
    std::uint64_t waits = 0;
    const DispatchRecording recording = recorder->recording();
    for (const auto& [decision, count] : recording.decisions())
      if (decision.op == "keyway::_local_scalar_dense" && decision.key == DispatchKey::CPU) waits += count;
    CHECK(waits == 1);
  }
}

TEST_CASE("the norm of 16-bit gradients may be greater than their dtype, and that of complex ones has both parts") {
  const Tensor half = keyway::zeros({4}, kHalf).requires_grad_();
  autograd::set_grad(half, keyway::full({4}, 60000, kHalf));
  CHECK(nn::utils::clip_grad_norm_({half}, 60000) == Approx(120000));
  CHECK(values_of(half.grad().to(kDouble))[0] == Approx(30000));
  const Tensor complex = keyway::zeros({2}, kComplexDouble).requires_grad_();
  autograd::set_grad(complex, keyway::full({2}, Scalar(std::complex<double>(1, 1)), kComplexDouble));
  CHECK(nn::utils::clip_grad_norm_({complex}, 1) == Approx(2));
  CHECK(nn::utils::clip_grad_norm_({}, 1) == 0);
}

TEST_CASE("a norm of any order is that of complex gradients' absolute values") {
  const double inf = std::numeric_limits<double>::infinity();
  const auto norm_of = [](double order, double max_norm) {
    const Tensor complex = keyway::zeros({2}, kComplexDouble).requires_grad_();
    const Tensor grad = keyway::full({2}, Scalar(std::complex<double>(3, 4)), kComplexDouble);
    grad[1].fill_(Scalar(std::complex<double>(-5, 12)));
    autograd::set_grad(complex, grad);
    const Tensor real = parameter_with({0, 2});
    const double norm = nn::utils::clip_grad_norm_({complex, real}, max_norm, order);
    // Scaled as one number: its angle stays.
    const std::vector<double> parts = values_of(view_as_real(complex.grad()).flatten());
    const double scale = std::min(1.0, max_norm / norm);
    CHECK(parts[0] == Approx(3 * scale));
    CHECK(parts[3] == Approx(12 * scale));
    return norm;
  };
  CHECK(norm_of(1, 4) == Approx(5 + 13 + 2));
  CHECK(norm_of(2, 4) == Approx(std::sqrt(25 + 169 + 4)));
  CHECK(norm_of(3, 4) == Approx(std::cbrt(125 + 2197 + 8)));
  CHECK(norm_of(0.5, 4) == Approx(std::pow(std::sqrt(5) + std::sqrt(13) + std::sqrt(2), 2)));
  CHECK(norm_of(inf, 4) == Approx(13));
  CHECK(norm_of(-inf, 4) == Approx(0));
  CHECK(norm_of(0, 4) == Approx(2));  // of the two, as PyTorch counts
  const Tensor half = keyway::zeros({1}, kComplexHalf).requires_grad_();
  for (const double order : {1.0, 2.0, inf}) {
    autograd::set_grad(half, keyway::full({1}, Scalar(std::complex<double>(60000, 60000)), kComplexHalf));
    CHECK(nn::utils::clip_grad_norm_({half}, 1e6, order) == Approx(60000 * std::sqrt(2)));  // above a half's greatest
  }
}
