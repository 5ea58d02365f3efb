// Fused steps against those that change one parameter after the other: the same bits, where nothing is rounded between.
#include <keyway/autograd/variable.h>
#include <keyway/dispatch/registry/library.h>
#include <keyway/nn/optim/adam.h>
#include <keyway/nn/optim/sgd.h>
#include <keyway/ops/all.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/core/fake_device.h>

#include <cstring>
#include <functional>
#include <vector>

using namespace keyway;
using keyway::testing::error_of;

namespace {

using Tensors = std::vector<Tensor>;

// Parameters of several sizes; one is not row-major, and one has no elements.
Tensors make_parameters(ScalarType dtype) {
  manual_seed(3);
  const auto options = TensorOptions().dtype(dtype);
  Tensors all{randn({3, 5}, options), randn({7, 4}, options).transpose(0, 1), randn({2000}, options),
              randn({0, 2}, options), randn({}, options)};
  for (Tensor& parameter : all) parameter = parameter.detach().requires_grad_();
  return all;
}

// Three steps, at the second of which one parameter has no gradient; and the state goes to another optimizer after it.
Tensors trained(ScalarType dtype, const std::function<std::unique_ptr<optim::Optimizer>(Tensors)>& make) {
  const Tensors parameters = make_parameters(dtype);
  auto optimizer = make(parameters);
  for (int step = 0; step < 3; ++step) {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const Tensor grad = randn(parameters[i].sizes(), TensorOptions().dtype(dtype));
      autograd::set_grad(parameters[i], step == 1 && i == 2 ? Tensor() : grad);
    }
    optimizer->step();
    if (step != 1) continue;
    auto next = make(parameters);
    next->load_state_dict(optimizer->state_dict());
    optimizer = std::move(next);
  }
  return parameters;
}

template <typename Optimizer, typename Options>
void check_same_bits(ScalarType dtype, Options options) {
  const auto with = [&](bool fused) {
    return trained(dtype, [&](Tensors parameters) {
      return std::make_unique<Optimizer>(std::move(parameters), Options(options).fused(fused));
    });
  };
  const Tensors fused = with(true), plain = with(false);
  for (std::size_t i = 0; i < fused.size(); ++i) {
    INFO("parameter " << i << " of " << to_string(dtype));
    const Tensor a = fused[i].detach().contiguous(), b = plain[i].detach().contiguous();
    CHECK((a.numel() == 0 || std::memcmp(a.data_ptr(), b.data_ptr(), a.nbytes()) == 0));
  }
}

template <typename Optimizer, typename Options>
void check_close(Options options) {
  const auto with = [&](bool fused) {
    return trained(kBFloat16, [&](Tensors parameters) {
      return std::make_unique<Optimizer>(std::move(parameters), Options(options).fused(fused));
    });
  };
  const Tensors fused = with(true), plain = with(false);
  for (std::size_t i = 0; i < fused.size(); ++i) {
    if (fused[i].numel() == 0) continue;
    CHECK((fused[i].detach().to(kFloat) - plain[i].detach().to(kFloat)).abs().amax().item<double>() < 0.05);
  }
}

}  // namespace

TEST_CASE("a fused step of SGD has the bits of the plain one") {
  using optim::SGD, optim::SGDOptions;
  for (const ScalarType dtype : {kFloat, kDouble}) {
    check_same_bits<SGD>(dtype, SGDOptions(0.1));
    check_same_bits<SGD>(dtype, SGDOptions(0.1).weight_decay(0.2));
    check_same_bits<SGD>(dtype, SGDOptions(0.1).momentum(0.9).dampening(0.5).weight_decay(0.2));
    check_same_bits<SGD>(dtype, SGDOptions(0.1).momentum(0.8).nesterov(true));
  }
  check_close<SGD>(SGDOptions(0.1).momentum(0.9));
}

TEST_CASE("fused steps of Adam and AdamW have the bits of the plain ones") {
  using optim::Adam, optim::AdamOptions, optim::AdamW, optim::AdamWOptions;
  for (const ScalarType dtype : {kFloat, kDouble}) {
    check_same_bits<Adam>(dtype, AdamOptions(0.05));
    check_same_bits<Adam>(dtype, AdamOptions(0.05).betas({0.8, 0.95}).eps(1e-4).weight_decay(0.1).amsgrad(true));
    check_same_bits<AdamW>(dtype, AdamWOptions(0.05));
    check_same_bits<AdamW>(dtype, AdamWOptions(0.05).weight_decay(0.3).amsgrad(true));
  }
  check_close<Adam>(AdamOptions(0.05));
}

namespace {
int steps_of_npu = 0;

void npu_fused_sgd(const OperatorEntry& op, const KernelBase&, DispatchKeySet, Stack& stack) {
  ++steps_of_npu;
  stack.resize(stack.size() - op.schema().arguments().size());
}
}  // namespace

TEST_CASE("steps are fused on a device whose backend has the kernel, and on no other") {
  testing::FakeDevices devices;
  const DeviceGuardRegistration guard = register_device_guard(devices);
  testing::FakeAllocator allocator(devices);
  set_allocator(devices.type(), &allocator);
  const Tensor parameter(make_tensor({3}, kFloat, devices.device(0)));
  parameter.requires_grad_();
  autograd::set_grad(parameter, Tensor(make_tensor({3}, kFloat, devices.device(0))));
  optim::SGD optimizer({parameter}, optim::SGDOptions(0.1).weight_decay(0.5));
  CHECK(error_of([&] { optimizer.step(); }).find("no kernel for NPU") != std::string::npos);
  {
    Library m(Library::Kind::Impl, "keyway", runtime_key(Functionality::Dense, devices.type()));
    m.impl_boxed("_fused_sgd_", &npu_fused_sgd);
    const RegistrationHandle kernel = m.commit();
    optimizer.step();
    CHECK(steps_of_npu == 1);
  }
  set_allocator(devices.type(), nullptr);
}

TEST_CASE("a scaled loss: gradients are divided by the scale, and nothing changes where they overflowed") {
  const Tensor scale = full({}, 8, kFloat), overflow = full({}, 1, kFloat), fine = full({}, 0, kFloat);
  for (const bool maximize : {false, true}) {
    const Tensor a = full({5}, 1, kFloat), b = full({5}, 1, kFloat), grad = full({5}, 16, kFloat);
    _fused_sgd_(Tensors{a}, Tensors{grad}, Tensors{}, 0, 0, 0.5, 0, false, maximize, true, scale, fine);
    CHECK(grad.sum().item<double>() == 5 * 2);
    CHECK(a.sum().item<double>() == 5 * (maximize ? 2 : 0));
    _fused_sgd_(Tensors{b}, Tensors{grad}, Tensors{}, 0, 0, 0.5, 0, false, maximize, true, scale, overflow);
    CHECK(b.sum().item<double>() == 5);
    CHECK(grad.sum().item<double>() == 5 * 2);
  }
  const Tensor p = full({3}, 1, kFloat), mean = zeros({3}), square = zeros({3}), grad = full({3}, 8, kFloat);
  const Tensors step{full({}, 1, kFloat)};
  _fused_adam_(Tensors{p}, Tensors{grad}, Tensors{mean}, Tensors{square}, Tensors{}, step, 0.25, 0.5, 0.5, 0, 0, false,
               false, scale, overflow);
  CHECK(p.sum().item<double>() == 3);
  _fused_adam_(Tensors{p}, Tensors{grad}, Tensors{mean}, Tensors{square}, Tensors{}, step, 0.25, 0.5, 0.5, 0, 0, false,
               false, scale, fine);
  CHECK(p.sum().item<double>() == 3 * 0.75);
  CHECK(mean.sum().item<double>() == 3 * 0.5);
}

TEST_CASE("_foreach_add_ adds to all tensors, of several dtypes and layouts too") {
  const Tensor a = zeros({2, 3}).transpose(0, 1), b = zeros({4}, kLong), c = zeros({0}),
               d = zeros({9}).slice(0, 0, 9, 2);
  _foreach_add_(Tensors{a, b, c, d}, 3);
  CHECK(a.sum().item<double>() == 18);
  CHECK(b.sum().item<std::int64_t>() == 12);
  CHECK(d.sum().item<double>() == 15);
  CHECK(error_of([&] { _foreach_add_(Tensors{a, b}, 0.5); }).find("_foreach_add_.Scalar: requires") == 0);
  const Tensor small = zeros({2}, kChar);
  CHECK(error_of([&] {
          _foreach_add_(Tensors{b, small}, 1000);
        }).find("1000 is outside the range of int8") != std::string::npos);
  CHECK(b.sum().item<std::int64_t>() == 12);
}

TEST_CASE("operators that change lists refuse what they cannot change, by name") {
  const Tensor a = zeros({2}), b = zeros({3});
  const auto step = [](const Tensors& parameters, const Tensors& grads) {
    return error_of([&] { _fused_sgd_(parameters, grads, Tensors{}, 0, 0, 0.5, 0, false, false, true); });
  };
  CHECK(step({}, {}).find("_fused_sgd_: no tensor is given for 'self'") == 0);
  CHECK(step({a}, {a, b}).find("one list has 1 tensors, and the other 2") != std::string::npos);
  CHECK(step({a, b}, {b, a}).find("tensor 0 has shape [2] in one list, and [3] in the other") != std::string::npos);
  CHECK(step({a}, {zeros({2}, kDouble)}).find("_fused_sgd_: argument 'grads' is float64") == 0);
  CHECK(step({a, zeros({2}, kDouble)}, {a, a}).find("requires all(self.dtype() == self[0].dtype())") !=
        std::string::npos);
  CHECK(step({zeros({2}, kLong)}, {zeros({2}, kLong)}).find("argument 'self' is int64") != std::string::npos);
  CHECK(step({a}, {empty({2}, TensorOptions().device(kMeta))}).find("'grads' is on meta") != std::string::npos);
  CHECK(step({a.slice(0, 0, 1).expand({4})}, {zeros({4})}).find("several elements in one memory location") !=
        std::string::npos);
  const Tensor leaf = zeros({2}).requires_grad_();
  CHECK(step({leaf}, {a}).find("_fused_sgd_: the operator changes lists of tensors, which is not recorded") == 0);
}

TEST_CASE("a parameter that a fused step cannot change is left to the plain one, or refused if fused is asked for") {
  const auto step = [](optim::SGDOptions options) {
    const Tensor real = ones({2}).requires_grad_(), complex = ones({2}, kComplexFloat).requires_grad_();
    optim::SGD optimizer({real, complex}, options);
    autograd::set_grad(real, ones({2}));
    autograd::set_grad(complex, ones({2}, kComplexFloat));
    optimizer.step();
    return complex.detach().sum().item().to<keyway::complex<double>>().real();
  };
  CHECK(step(optim::SGDOptions(0.5)) == 1);
  CHECK(error_of([&] { step(optim::SGDOptions(0.5).fused(true)); }).find("argument 'self' is complex64") !=
        std::string::npos);
}

TEST_CASE("changing a list bumps the versions of its tensors") {
  const Tensor x = ones({2}).requires_grad_(), y = ones({2});
  const Tensor product = (x * y).sum();
  _fused_sgd_(Tensors{y}, Tensors{ones({2})}, Tensors{}, 0, 0, 0.5, 0, false, false, true);
  CHECK(error_of([&] { product.backward(); }).find("changed") != std::string::npos);
}
