// Optimizers that scale each element by what they remember of it, against their formulas, written here over doubles.
#include <keyway/autograd/variable.h>
#include <keyway/nn/nn.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/nn/values.h>

#include <array>
#include <cmath>
#include <functional>

using namespace keyway;
using keyway::testing::error_of;
using keyway::testing::largest_difference;
using keyway::testing::some_values;
using keyway::testing::tensor_of;
using keyway::testing::values_of;

namespace {

constexpr int kElements = 6, kTimes = 20;
using Numbers = std::vector<double>;
using Remembered = std::array<double, 4>;
// Changes a parameter by a gradient at a step, from 1.
using Formula = std::function<void(double& parameter, double gradient, int step, Remembered& memory)>;

Numbers gradient_of_step(int step) { return some_values(kElements, 100 + static_cast<std::uint64_t>(step)); }

template <typename Optimizer, typename Options>
double difference(const Options& options, const Formula& update) {
  const Tensor parameter = tensor_of(some_values(kElements, 5), {kElements}).requires_grad_();
  Optimizer optimizer({parameter}, options);
  Numbers expected = some_values(kElements, 5);
  std::array<Remembered, kElements> memory{};
  for (int step = 1; step <= kTimes; ++step) {
    const Numbers gradient = gradient_of_step(step);
    for (std::size_t i = 0; i < kElements; ++i) update(expected[i], gradient[i], step, memory[i]);
    autograd::set_grad(parameter, tensor_of(gradient, {kElements}));
    optimizer.step();
  }
  return largest_difference(values_of(parameter), expected);
}

double mixed(double old, double part, double fresh) { return part * old + (1 - part) * fresh; }

}  // namespace

TEST_CASE("Adadelta and Adagrad follow their formulas") {
  CHECK(difference<optim::Adadelta>(optim::AdadeltaOptions(0.7).rho(0.8).eps(1e-3).weight_decay(0.1),
                                    [](double& p, double g, int, Remembered& m) {
                                      g += 0.1 * p;
                                      m[0] = mixed(m[0], 0.8, g * g);
                                      const double d = std::sqrt(m[1] + 1e-3) / std::sqrt(m[0] + 1e-3) * g;
                                      m[1] = mixed(m[1], 0.8, d * d);
                                      p -= 0.7 * d;
                                    }) < 1e-13);
  CHECK(difference<optim::Adagrad>(
            optim::AdagradOptions(0.3).lr_decay(0.1).initial_accumulator_value(0.5).eps(1e-4).maximize(true),
            [](double& p, double g, int step, Remembered& m) {
              m[0] = (step == 1 ? 0.5 : m[0]) + g * g;
              p += 0.3 / (1 + (step - 1) * 0.1) * g / (std::sqrt(m[0]) + 1e-4);
            }) < 1e-13);
}

TEST_CASE("Adamax, NAdam and RAdam follow their formulas") {
  CHECK(difference<optim::Adamax>(optim::AdamaxOptions(0.1).betas({0.8, 0.9}).eps(1e-4),
                                  [](double& p, double g, int step, Remembered& m) {
                                    m[0] = mixed(m[0], 0.8, g);
                                    m[1] = std::max(0.9 * m[1], std::abs(g) + 1e-4);
                                    p -= 0.1 / (1 - std::pow(0.8, step)) * m[0] / m[1];
                                  }) < 1e-13);
  // The product of momenta is a float32 number.
  CHECK(difference<optim::NAdam>(optim::NAdamOptions(0.1)
                                     .betas({0.8, 0.9})
                                     .momentum_decay(0.01)
                                     .weight_decay(0.2)
                                     .decoupled_weight_decay(true),
                                 [](double& p, double g, int step, Remembered& m) {
                                   const auto momentum = [](int t) {
                                     return 0.8 * (1 - 0.5 * std::pow(0.96, t * 0.01));
                                   };
                                   p *= 1 - 0.1 * 0.2;
                                   m[0] = mixed(m[0], 0.8, g);
                                   m[1] = mixed(m[1], 0.9, g * g);
                                   m[2] = (step == 1 ? 1 : m[2]) * momentum(step);
                                   const double d = std::sqrt(m[1] / (1 - std::pow(0.9, step))) + 1e-8;
                                   p -= 0.1 * (1 - momentum(step)) / (1 - m[2]) * g / d;
                                   p -= 0.1 * momentum(step + 1) / (1 - m[2] * momentum(step + 1)) * m[0] / d;
                                 }) < 1e-6);
  CHECK(difference<optim::RAdam>(optim::RAdamOptions(0.1).betas({0.8, 0.9}),
                                 [](double& p, double g, int step, Remembered& m) {
                                   m[0] = mixed(m[0], 0.8, g);
                                   m[1] = mixed(m[1], 0.9, g * g);
                                   const double kept = std::pow(0.9, step), r = 2 / (1 - 0.9) - 1;
                                   const double q = r - 2 * step * kept / (1 - kept);
                                   double d = 1;
                                   if (q > 5) {
                                     const double rate = (q - 4) * (q - 2) * r / ((r - 4) * (r - 2) * q);
                                     d = std::sqrt((1 - kept) * rate) / (std::sqrt(m[1]) + 1e-8);
                                   }
                                   p -= 0.1 * m[0] / (1 - std::pow(0.8, step)) * d;
                                 }) < 1e-13);
}

TEST_CASE("RMSprop, Rprop and ASGD follow their formulas") {
  CHECK(difference<optim::RMSprop>(optim::RMSpropOptions(0.1).alpha(0.9).momentum(0.8).centered(true).eps(1e-3),
                                   [](double& p, double g, int, Remembered& m) {
                                     m[0] = mixed(m[0], 0.9, g * g);
                                     m[1] = mixed(m[1], 0.9, g);
                                     m[2] = 0.8 * m[2] + g / (std::sqrt(m[0] - m[1] * m[1]) + 1e-3);
                                     p -= 0.1 * m[2];
                                   }) < 1e-12);
  CHECK(difference<optim::Rprop>(optim::RpropOptions(0.1).etas({0.4, 1.3}).step_sizes({0.01, 0.5}),
                                 [](double& p, double g, int step, Remembered& m) {
                                   const double product = g * m[0];
                                   const double size = step == 1 ? 0.1 : m[1];
                                   const double factor = product > 0 ? 1.3 : product < 0 ? 0.4 : 1;
                                   m[1] = std::min(std::max(size * factor, 0.01), 0.5);
                                   if (product < 0) g = 0;
                                   p -= m[1] * (g > 0 ? 1 : g < 0 ? -1 : 0);
                                   m[0] = g;
                                 }) < 1e-13);
  // eta is a float32 number.
  CHECK(difference<optim::ASGD>(optim::ASGDOptions(0.1).lambd(0.01).alpha(0.6),
                                [](double& p, double g, int step, Remembered&) {
                                  const double eta = step == 1 ? 0.1 : 0.1 / std::pow(1 + 0.01 * 0.1 * (step - 1), 0.6);
                                  p = p * (1 - 0.01 * eta) - eta * g;
                                }) < 1e-7);
}

TEST_CASE("Muon steps by a matrix of singular values near 1") {
  const Tensor parameter = keyway::zeros({4, 3}).requires_grad_();
  optim::Muon optimizer({parameter}, optim::MuonOptions(1).weight_decay(0));
  autograd::set_grad(parameter, testing::some_tensor({4, 3}, 3, kFloat));
  optimizer.step();
  const Tensor step = parameter.detach().to(kDouble) / std::sqrt(4.0 / 3);
  const Tensor squares = linalg_eigvalsh(step.t().matmul(step));
  CHECK(squares.min().item<double>() > 0.5 * 0.5);
  CHECK(squares.max().item<double>() < 1.3 * 1.3);
  CHECK(error_of([] { optim::Muon({keyway::zeros({3}).requires_grad_()}); }) ==
        "Muon: a parameter has shape [3], but must have 2 dimensions");
}

TEST_CASE("Adafactor keeps means of rows and columns, and steps by at most the parameter's size") {
  const Tensor parameter = keyway::ones({4, 3}).requires_grad_();
  optim::Adafactor optimizer({parameter}, optim::AdafactorOptions(0.1));
  autograd::set_grad(parameter, keyway::full({4, 3}, 2, kFloat));
  optimizer.step();
  // All squares are 4, so the gradient is scaled to 1; the step is the parameter's root mean square times the learning
  // rate.
  CHECK(values_of(parameter)[5] == Approx(0.9));
  const nn::StateDict state = optimizer.state_dict();
  CHECK(state["state.0.row_var"].sizes() == IntArrayRef({4, 1}));
  CHECK(state["state.0.col_var"].sizes() == IntArrayRef({1, 3}));
  CHECK(!state.contains("state.0.variance"));
  CHECK(error_of([] { optim::Adafactor({keyway::zeros({3}).requires_grad_()}, optim::AdafactorOptions().d(0.5)); }) ==
        "Adafactor: d is 0.5, but must be at least 1");
}

TEST_CASE("options that make no sense are refused by name") {
  const auto refusal = []<typename Optimizer, typename Options>(const Options& options, const Optimizer*) {
    return error_of([&] { Optimizer({keyway::zeros({3}).requires_grad_()}, options); });
  };
  CHECK(refusal(optim::AdadeltaOptions().rho(1.5), static_cast<optim::Adadelta*>(nullptr)) ==
        "Adadelta: rho is 1.5, but must be in [0, 1]");
  CHECK(refusal(optim::AdagradOptions().lr_decay(-1), static_cast<optim::Adagrad*>(nullptr)) ==
        "Adagrad: lr_decay is -1, but must not be negative");
  CHECK(refusal(optim::RMSpropOptions().alpha(-0.5), static_cast<optim::RMSprop*>(nullptr)) ==
        "RMSprop: alpha is -0.5, but must not be negative");
  CHECK(refusal(optim::RpropOptions().etas({1, 2}), static_cast<optim::Rprop*>(nullptr)) ==
        "Rprop: the etas are 1 and 2, but must be below and above 1");
  CHECK(refusal(optim::RAdamOptions().betas({0.9, 1}), static_cast<optim::RAdam*>(nullptr)) ==
        "RAdam: the betas are 0.9 and 1, but must be in [0, 1)");
  // Those of a group too.
  std::vector<optim::OptimizerParamGroup> groups;
  groups.emplace_back(std::vector<Tensor>{keyway::zeros({3}).requires_grad_()},
                      std::make_unique<optim::ASGDOptions>(-2.0));
  CHECK(error_of([&] { optim::ASGD(std::move(groups)); }) == "ASGD: lr is -2, but must not be negative");
}
