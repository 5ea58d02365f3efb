// Each optimizer against its formula, written here over doubles.
#include <keyway/autograd/variable.h>
#include <keyway/nn/optim/adam.h>
#include <keyway/nn/optim/sgd.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/nn/values.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>

using namespace keyway;
using keyway::testing::error_of;
using keyway::testing::largest_difference;
using keyway::testing::some_values;
using keyway::testing::tensor_of;
using keyway::testing::values_of;

namespace {

constexpr int kSize = 6, kSteps = 20;
using Values = std::vector<double>;

Values gradient_at(int step) { return some_values(kSize, 100 + static_cast<std::uint64_t>(step)); }

Tensor make_parameter() { return tensor_of(some_values(kSize, 5), {kSize}).requires_grad_(); }

// Steps an optimizer through the same gradients as run_reference.
void run(optim::Optimizer& optimizer, const Tensor& parameter, int begin, int end) {
  for (int step = begin; step < end; ++step) {
    autograd::set_grad(parameter, tensor_of(gradient_at(step), {kSize}));
    optimizer.step();
  }
}

// One element: update(parameter, gradient, step from 1, memory) changes the parameter.
using Memory = std::array<double, 3>;
using Update = std::function<void(double& parameter, double gradient, int step, Memory& memory)>;
Values run_reference(const Update& update) {
  Values parameter = some_values(kSize, 5);
  std::vector<Memory> memory(kSize, Memory{});
  for (int step = 0; step < kSteps; ++step) {
    const Values gradient = gradient_at(step);
    for (int i = 0; i < kSize; ++i) update(parameter[i], gradient[i], step + 1, memory[i]);
  }
  return parameter;
}

template <typename Optimizer, typename Options>
double distance(const Options& options, const Update& update) {
  const Tensor parameter = make_parameter();
  Optimizer optimizer({parameter}, options);
  run(optimizer, parameter, 0, kSteps);
  CHECK(parameter.is_leaf());
  return largest_difference(values_of(parameter), run_reference(update));
}

Update sgd(double lr, double momentum, double dampening, double decay, bool nesterov) {
  return [=](double& p, double g, int step, Memory& memory) {
    g += decay * p;
    memory[0] = step == 1 ? g : momentum * memory[0] + (1 - dampening) * g;
    p -= lr * (nesterov ? g + momentum * memory[0] : memory[0]);
  };
}

Update adam(double lr, double beta1, double beta2, double eps, double decay, bool decoupled, bool amsgrad) {
  return [=](double& p, double g, int step, Memory& memory) {
    if (decoupled) p *= 1 - lr * decay;
    if (!decoupled) g += decay * p;
    memory[0] = beta1 * memory[0] + (1 - beta1) * g;
    memory[1] = beta2 * memory[1] + (1 - beta2) * g * g;
    memory[2] = std::max(memory[2], memory[1]);
    const double m = memory[0] / (1 - std::pow(beta1, step));
    const double v = (amsgrad ? memory[2] : memory[1]) / (1 - std::pow(beta2, step));
    p -= lr * m / (std::sqrt(v) + eps);
  };
}

}  // namespace

TEST_CASE("SGD follows its formula") {
  using optim::SGD, optim::SGDOptions;
  CHECK(distance<SGD>(SGDOptions(0.1), sgd(0.1, 0, 0, 0, false)) < 1e-14);
  CHECK(distance<SGD>(SGDOptions(0.1).momentum(0.9), sgd(0.1, 0.9, 0, 0, false)) < 1e-14);
  CHECK(distance<SGD>(SGDOptions(0.1).momentum(0.9).dampening(0.5).weight_decay(0.2), sgd(0.1, 0.9, 0.5, 0.2, false)) <
        1e-14);
  CHECK(distance<SGD>(SGDOptions(0.1).momentum(0.8).nesterov(true).weight_decay(0.1), sgd(0.1, 0.8, 0, 0.1, true)) <
        1e-14);
}

TEST_CASE("Adam and AdamW follow their formulas") {
  using optim::Adam, optim::AdamOptions, optim::AdamW, optim::AdamWOptions;
  CHECK(distance<Adam>(AdamOptions(), adam(1e-3, 0.9, 0.999, 1e-8, 0, false, false)) < 1e-13);
  CHECK(distance<Adam>(AdamOptions(0.05).betas({0.8, 0.95}).eps(1e-4).weight_decay(0.1),
                       adam(0.05, 0.8, 0.95, 1e-4, 0.1, false, false)) < 1e-13);
  CHECK(distance<Adam>(AdamOptions(0.05).amsgrad(true), adam(0.05, 0.9, 0.999, 1e-8, 0, false, true)) < 1e-13);
  CHECK(distance<AdamW>(AdamWOptions(0.05), adam(0.05, 0.9, 0.999, 1e-8, 1e-2, true, false)) < 1e-13);
  CHECK(distance<AdamW>(AdamWOptions(0.05).weight_decay(0.3).amsgrad(true),
                        adam(0.05, 0.9, 0.999, 1e-8, 0.3, true, true)) < 1e-13);
}

TEST_CASE("groups have options of their own, or the optimizer's") {
  const Tensor a = make_parameter(), b = make_parameter();
  std::vector<optim::OptimizerParamGroup> groups;
  groups.emplace_back(std::vector<Tensor>{a});
  groups.emplace_back(std::vector<Tensor>{b}, std::make_unique<optim::SGDOptions>(0.0));
  optim::SGD optimizer(std::move(groups), optim::SGDOptions(0.5));
  CHECK(optimizer.param_groups()[0].options().get_lr() == 0.5);
  const Values before = values_of(b);
  autograd::set_grad(a, keyway::ones({kSize}, kDouble));
  autograd::set_grad(b, keyway::ones({kSize}, kDouble));
  optimizer.step();
  CHECK(values_of(a)[0] == before[0] - 0.5);
  CHECK(values_of(b) == before);
  optimizer.param_groups()[1].options().set_lr(1);
  optimizer.step();
  CHECK(values_of(b)[0] == before[0] - 1);
}

TEST_CASE("a parameter without a gradient is left alone, also by weight decay") {
  const Tensor parameter = make_parameter();
  const Values before = values_of(parameter);
  optim::AdamW optimizer({parameter});
  optimizer.step();
  CHECK(values_of(parameter) == before);
}

TEST_CASE("step calls its closure with gradients on and returns the loss") {
  const Tensor parameter = make_parameter();
  optim::SGD optimizer({parameter}, optim::SGDOptions(0.5));
  const NoGradGuard no_grad;
  const Values before = values_of(parameter);
  const Tensor loss = optimizer.step([&] {
    optimizer.zero_grad();
    const Tensor sum = parameter.sum();
    sum.backward();
    return sum;
  });
  CHECK(values_of(parameter)[0] == before[0] - 0.5);
  CHECK(loss.item<double>() == Approx(std::accumulate(before.begin(), before.end(), 0.0)));
}

TEST_CASE("an optimizer goes on from a saved state as if it had never stopped") {
  const auto options = optim::AdamWOptions(0.05).amsgrad(true);
  const Tensor whole = make_parameter(), halves = make_parameter();
  optim::AdamW uninterrupted({whole}, options);
  run(uninterrupted, whole, 0, kSteps);

  optim::AdamW first({halves}, options);
  run(first, halves, 0, kSteps / 2);
  optim::AdamW second({halves}, optim::AdamWOptions(1));
  second.load_state_dict(first.state_dict());
  CHECK(second.param_groups()[0].options().get_lr() == 0.05);
  run(second, halves, kSteps / 2, kSteps);
  CHECK(values_of(halves) == values_of(whole));
}

TEST_CASE("a state that does not fit is refused") {
  const Tensor parameter = make_parameter();
  optim::SGD sgd({parameter}, optim::SGDOptions(0.5).momentum(0.9));
  run(sgd, parameter, 0, 1);
  const nn::StateDict state = sgd.state_dict();
  CHECK(state.contains("state.0.momentum_buffer"));
  optim::AdamW adamw({parameter});
  CHECK(error_of([&] { adamw.load_state_dict(state); }) == "the optimizer's state lacks 'param_groups.0.beta1'");

  const Tensor other = keyway::zeros({2}, kDouble).requires_grad_();
  optim::SGD smaller({other}, optim::SGDOptions(1));
  CHECK(error_of([&] { smaller.load_state_dict(state); }) ==
        "'momentum_buffer' of a parameter of shape [2] has shape [6]");
  CHECK(smaller.param_groups()[0].options().get_lr() == 1);
}

TEST_CASE("parameters that cannot be optimized, and options that make no sense, are refused") {
  const Tensor parameter = make_parameter();
  CHECK(error_of([&] {
          optim::SGD({parameter, parameter}, optim::SGDOptions(1));
        }) == "a parameter of shape [6] is given to the optimizer twice");
  CHECK(error_of([&] { optim::SGD({parameter * 2}, optim::SGDOptions(1)); }).find("an optimizer changes leaves") == 0);
  CHECK(error_of([&] { optim::SGD({parameter}, optim::SGDOptions(-1)); }) ==
        "SGD: the learning rate is -1, but must not be negative");
  CHECK(error_of([&] { optim::SGD({parameter}, optim::SGDOptions(1).nesterov(true)); }) ==
        "SGD: Nesterov's form needs momentum and no dampening");
  CHECK(error_of([&] {
          optim::Adam({parameter}, optim::AdamOptions().betas({1, 0.9}));
        }) == "Adam: the betas are 1 and 0.9, but must be in [0, 1)");
}
