// Each optimizer against its formula, written here over doubles.
#include <keyway/autograd/variable.h>
#include <keyway/core/dtype/default_dtype.h>
#include <keyway/nn/optim/adadelta.h>
#include <keyway/nn/optim/adafactor.h>
#include <keyway/nn/optim/adagrad.h>
#include <keyway/nn/optim/adam.h>
#include <keyway/nn/optim/adamax.h>
#include <keyway/nn/optim/asgd.h>
#include <keyway/nn/optim/muon.h>
#include <keyway/nn/optim/nadam.h>
#include <keyway/nn/optim/radam.h>
#include <keyway/nn/optim/rmsprop.h>
#include <keyway/nn/optim/rprop.h>
#include <keyway/nn/optim/sgd.h>
#include <keyway/ops/all.h>
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

namespace {

// An optimizer whose updates throw while `throws` is set.
template <typename Base, typename Options, typename State>
class Throwing : public Base {
 public:
  using Base::Base;
  bool throws = false;

 protected:
  void update(const Tensor& parameter, const Tensor& grad, const Options& options, State& state) override {
    KEYWAY_CHECK(!throws, "no step");
    Base::update(parameter, grad, options, state);
  }
  void update_fused(std::vector<optim::ParamChange>& /*changes*/, const Options& /*options*/) override {}
};

// Three steps; before each of them one that throws, if `throws`.
template <typename Base, typename Options, typename State>
nn::StateDict state_after_steps(const Tensor& values, const Options& options, bool throws) {
  const Tensor parameter = values.clone().requires_grad_();
  Throwing<Base, Options, State> optimizer({parameter}, options);
  for (int step = 1; step <= 3; ++step) {
    autograd::set_grad(parameter, keyway::ones_like(values).mul(step));
    if (throws) {
      optimizer.throws = true;
      CHECK(error_of([&] { optimizer.step(); }) == "no step");
      optimizer.throws = false;
    }
    optimizer.step();
  }
  nn::StateDict state = optimizer.state_dict();
  state.insert("parameter", parameter.detach());
  return state;
}

template <typename Base, typename Options, typename State>
void check_goes_on_after_an_error(const Tensor& values, const Options& options = {}) {
  const nn::StateDict expected = state_after_steps<Base, Options, State>(values, options, false);
  const nn::StateDict found = state_after_steps<Base, Options, State>(values, options, true);
  CHECK(found.keys() == expected.keys());
  for (const auto& [name, tensor] : expected) {
    INFO(name);
    CHECK(equal(found[name], tensor));
  }
}

}  // namespace

TEST_CASE("a step that throws is no step: the next one is as if it had not been") {
  using namespace optim;
  const Tensor real = tensor_of(some_values(kSize, 5), {2, 3}), complex = view_as_complex(real.reshape({3, 2}));
  for (const Tensor& values : {real, complex}) {
    check_goes_on_after_an_error<Adadelta, AdadeltaOptions, AdadeltaParamState>(values);
    check_goes_on_after_an_error<Adagrad, AdagradOptions, AdagradParamState>(values, AdagradOptions().lr_decay(0.1));
    check_goes_on_after_an_error<Adam, AdamOptions, AdamParamState>(values, AdamOptions().amsgrad(true));
    check_goes_on_after_an_error<AdamW, AdamWOptions, AdamParamState>(values);
    check_goes_on_after_an_error<Adamax, AdamaxOptions, AdamaxParamState>(values);
    check_goes_on_after_an_error<ASGD, ASGDOptions, ASGDParamState>(values, ASGDOptions().t0(1));
    check_goes_on_after_an_error<NAdam, NAdamOptions, NAdamParamState>(values);
    check_goes_on_after_an_error<RAdam, RAdamOptions, RAdamParamState>(values);
    check_goes_on_after_an_error<RMSprop, RMSpropOptions, RMSpropParamState>(
        values, RMSpropOptions().momentum(0.5).centered(true));
    check_goes_on_after_an_error<Rprop, RpropOptions, RpropParamState>(values);
    check_goes_on_after_an_error<SGD, SGDOptions, SGDParamState>(values, SGDOptions(0.1).momentum(0.5).dampening(0.5));
  }
  check_goes_on_after_an_error<Adafactor, AdafactorOptions, AdafactorParamState>(real);
  check_goes_on_after_an_error<Muon, MuonOptions, MuonParamState>(real);
}

TEST_CASE("a fused step that throws is no step") {
  const Tensor parameter = keyway::ones({3}, kComplexFloat).requires_grad_();
  optim::Adam optimizer({parameter}, optim::AdamOptions(0.5).fused(true));
  autograd::set_grad(parameter, keyway::ones({3}, kComplexFloat));
  CHECK(!error_of([&] { optimizer.step(); }).empty());
  CHECK(optimizer.state_dict()["state.0.step"].item<double>() == 0);
}

TEST_CASE("the numbers of a state stay where a step throws at its end") {
  // Both elements are one place in memory: the parameter cannot be written to.
  const Tensor parameter = keyway::zeros({1}).expand({2}).requires_grad_();
  optim::NAdam optimizer({parameter});
  autograd::set_grad(parameter, keyway::ones({2}));
  CHECK(!error_of([&] { optimizer.step(); }).empty());
  CHECK(optimizer.state_dict()["state.0.step"].item<double>() == 0);
  CHECK(optimizer.state_dict()["state.0.mu_product"].item<double>() == 1);
}

TEST_CASE("a state of steps that lacks a tensor is refused, and nothing has changed") {
  const Tensor parameter = make_parameter();
  optim::Adam adam({parameter}, optim::AdamOptions(0.5));
  run(adam, parameter, 0, 1);
  nn::StateDict lacking;
  for (const auto& [name, tensor] : adam.state_dict()) {
    if (name != "state.0.exp_avg_sq") lacking.insert(name, name == "param_groups.0.lr" ? tensor.mul(2) : tensor);
  }
  CHECK(error_of([&] { adam.load_state_dict(lacking); }) == "the optimizer's state lacks 'state.0.exp_avg_sq'");
  CHECK(adam.param_groups()[0].options().get_lr() == 0.5);
  optim::SGD sgd({parameter}, optim::SGDOptions(0.5)), more({parameter}, optim::SGDOptions(0.5).momentum(0.5));
  run(sgd, parameter, 0, 1);
  more.load_state_dict(sgd.state_dict());  // without momentum there is no buffer
}

TEST_CASE("options of another optimizer are refused") {
  std::vector<optim::OptimizerParamGroup> groups;
  groups.emplace_back(std::vector<Tensor>{make_parameter()}, std::make_unique<optim::AdamOptions>());
  CHECK(error_of([&] { optim::SGD(std::move(groups), optim::SGDOptions(1)); }) ==
        "a group of parameters has AdamOptions, but this optimizer takes SGDOptions");
}

TEST_CASE("numbers of states are float64 where that is the default dtype") {
  const auto number = [](const char* name, optim::Optimizer& optimizer, const Tensor& parameter) {
    run(optimizer, parameter, 0, 1);
    return optimizer.state_dict()[name].item<double>();
  };
  const auto check = [&](double (*rounded)(double)) {
    const Tensor a = make_parameter(), b = make_parameter();
    optim::ASGD asgd({a}, optim::ASGDOptions(0.1).lambd(0.5));
    CHECK(number("state.0.eta", asgd, a) == rounded(0.1 / std::pow(1 + 0.5 * 0.1, 0.75)));
    optim::NAdam nadam({b});
    CHECK(number("state.0.mu_product", nadam, b) == rounded(0.9 * (1 - 0.5 * std::pow(0.96, 0.004))));
  };
  check([](double value) { return static_cast<double>(static_cast<float>(value)); });
  set_default_dtype(kDouble);
  check([](double value) { return value; });
  set_default_dtype(kFloat);
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
  CHECK(error_of([&] { optim::AdamW({parameter}, optim::AdamWOptions().weight_decay(-1)); }) ==
        "AdamW: the weight decay is -1, but must not be negative");
}
