#include <keyway/nn/optim/adam.h>
#include <keyway/nn/optim/lr_chains.h>
#include <keyway/nn/optim/lr_cycles.h>
#include <keyway/nn/optim/lr_plateau.h>
#include <keyway/nn/optim/lr_scheduler.h>
#include <keyway/nn/optim/sgd.h>
#include <keyway/nn/optim/swa_lr.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/nn/values.h>

#include <cmath>
#include <functional>
#include <numbers>

using namespace keyway;
using keyway::testing::error_of;

namespace {

double rate_of(optim::Optimizer& optimizer) { return optimizer.param_groups()[0].options().get_lr(); }

}  // namespace

namespace {

// The learning rates of 12 steps, from one of 2.
template <typename Schedule, typename... Args>
void check_rates(const std::function<double(int step)>& expected, const Args&... args) {
  optim::SGD optimizer({keyway::zeros({1}).requires_grad_()}, optim::SGDOptions(2).momentum(0.9));
  Schedule schedule(optimizer, args...);
  for (int step = 0; step < 12; ++step, schedule.step()) {
    INFO("step " << step);
    CHECK(rate_of(optimizer) == Approx(expected(step)).margin(1e-14));
  }
}

double half_cosine(double way) { return (1 + std::cos(std::numbers::pi * way)) / 2; }

}  // namespace

TEST_CASE("schedules of the number of the step follow their formulas") {
  const auto falling = [](std::int64_t step) { return 1 / (1 + static_cast<double>(step)); };
  check_rates<optim::LambdaLR>([&](int step) { return 2 * falling(step); }, optim::LambdaLR::Lambda(falling));
  check_rates<optim::MultiplicativeLR>([](int step) { return 2 * std::pow(0.5, step); },
                                       optim::LambdaLR::Lambda([](std::int64_t) { return 0.5; }));
  check_rates<optim::ExponentialLR>([](int step) { return 2 * std::pow(0.7, step); }, 0.7);
  check_rates<optim::ConstantLR>([](int step) { return step < 4 ? 1 : 2; }, 0.5, 4);
  check_rates<optim::MultiStepLR>([](int step) { return 2 * std::pow(0.5, (step >= 2) + 2 * (step >= 5)); },
                                  std::vector<std::int64_t>{2, 5, 5}, 0.5);
  check_rates<optim::LinearLR>([](int step) { return 2 * (0.2 + 0.6 * std::min(step, 5) / 5); }, 0.2, 0.8, 5);
  check_rates<optim::PolynomialLR>([](int step) { return 2 * std::pow(1 - std::min(step, 5) / 5.0, 1.5); }, 5, 1.5);
  check_rates<optim::CosineAnnealingLR>([](int step) { return 0.1 + 1.9 * half_cosine(step / 4.0); }, 4, 0.1);
  check_rates<optim::CosineAnnealingWarmRestarts>(
      [](int step) {
        const int begin = step < 2 ? 0 : step < 6 ? 2 : 6, length = step < 2 ? 2 : step < 6 ? 4 : 8;
        return 0.1 + 1.9 * half_cosine(static_cast<double>(step - begin) / length);
      },
      2, 2, 0.1);
  check_rates<optim::SWALR>([](int step) { return step < 5 ? 2 + (0.5 - 2) * step / 5.0 : 0.5; }, 0.5, 5, "linear");
}

TEST_CASE("schedules that go up and down change the momentum the other way") {
  optim::AdamW optimizer({keyway::zeros({1}).requires_grad_()});
  optim::OneCycleLR one(optimizer, optim::OneCycleLROptions(1, 10).pct_start(0.5).anneal_strategy("linear"));
  CHECK(rate_of(optimizer) == Approx(1.0 / 25));
  CHECK(*optimizer.param_groups()[0].options().get_momentum() == Approx(0.95));
  for (int i = 0; i < 4; ++i) one.step();
  CHECK(rate_of(optimizer) == Approx(1));
  CHECK(*optimizer.param_groups()[0].options().get_momentum() == Approx(0.85));
  for (int i = 0; i < 5; ++i) one.step();
  CHECK(rate_of(optimizer) == Approx(1.0 / 25 / 1e4));
  one.step();  // PyTorch's limit is one behind the lowest point
  const std::vector<double> last = one.get_last_lr();
  CHECK(error_of([&] { one.step(); }) == "OneCycleLR: this is step 11, but there are 10 in all");
  CHECK(one.step_count() == 10);
  CHECK(one.get_last_lr() == last);

  optim::SGD sgd({keyway::zeros({1}).requires_grad_()}, optim::SGDOptions(2).momentum(0.5));
  optim::CyclicLR cycle(sgd, optim::CyclicLROptions(0.1, 0.5).step_size_up(2).step_size_down(4));
  std::vector<double> rates;
  for (int i = 0; i < 8; ++i, cycle.step()) rates.push_back(rate_of(sgd));
  const std::vector<double> expected = {0.1, 0.3, 0.5, 0.4, 0.3, 0.2, 0.1, 0.3};
  CHECK(testing::largest_difference(rates, expected) < 1e-15);
  CHECK(error_of([] {
          optim::SGD plain({keyway::zeros({1}).requires_grad_()}, optim::SGDOptions(2));
          optim::CyclicLR(plain, optim::CyclicLROptions(0.1, 0.5).mode("square"));
        }) == "CyclicLR: mode is 'square', but must be 'triangular', 'triangular2' or 'exp_range'");
}

TEST_CASE("a plateau lowers the learning rate, but not below its least") {
  optim::SGD optimizer({keyway::zeros({1}).requires_grad_()}, optim::SGDOptions(1));
  optim::ReduceLROnPlateau schedule(optimizer, optim::ReduceLROnPlateauOptions().factor(0.1).patience(1).min_lr(0.05));
  std::vector<double> rates;
  for (const double measure : {3.0, 2.0, 2.0, 2.0, 2.0, 2.0, 1.0}) {
    schedule.step(measure);
    rates.push_back(rate_of(optimizer));
  }
  CHECK(rates == std::vector<double>{1, 1, 1, 0.1, 0.1, 0.05, 0.05});
}

TEST_CASE("a plateau lowers the learning rate of groups that were added, if there is a least one for all") {
  optim::SGD optimizer({keyway::zeros({1}).requires_grad_()}, optim::SGDOptions(1));
  optim::ReduceLROnPlateau one(optimizer, optim::ReduceLROnPlateauOptions().factor(0.5).patience(0).min_lr(0.75));
  optim::ReduceLROnPlateau each(optimizer, optim::ReduceLROnPlateauOptions().min_lr({0.5}));
  optimizer.add_param_group({{keyway::zeros({2}).requires_grad_()}});
  one.step(1);
  one.step(1);
  CHECK(one.get_last_lr() == std::vector<double>{0.75, 0.75});
  CHECK(error_of([&] { each.step(1); }) == "ReduceLROnPlateau: min_lr has 1 numbers, but there are 2 groups");
  CHECK(each.step_count() == 0);
}

namespace {

using Parts = std::vector<std::shared_ptr<optim::LRScheduler>>;

// The learning rates of some steps, from one of 1.
std::vector<double> rates_in_turn(const std::function<Parts(optim::Optimizer&)>& make, std::int64_t milestone,
                                  int steps) {
  optim::SGD optimizer({keyway::zeros({1}).requires_grad_()}, optim::SGDOptions(1));
  optim::SequentialLR schedule(optimizer, make(optimizer), {milestone});
  std::vector<double> rates;
  for (int i = 0; i < steps; ++i, schedule.step()) rates.push_back(rate_of(optimizer));
  return rates;
}

}  // namespace

TEST_CASE("a schedule that only multiplies begins from the present learning rate, others from the first one") {
  const auto multiply = [](optim::Optimizer& o, double by) {
    return std::make_shared<optim::MultiplicativeLR>(o, optim::LambdaLR::Lambda([by](std::int64_t) { return by; }));
  };
  const auto power = [](optim::Optimizer& o, double by) { return std::make_shared<optim::ExponentialLR>(o, by); };
  using testing::largest_difference;
  const auto first = rates_in_turn([&](auto& o) { return Parts{multiply(o, 0.5), power(o, 0.9)}; }, 3, 5);
  CHECK(largest_difference(first, {1, 0.5, 0.25, 1, 0.9}) < 1e-15);
  const auto second = rates_in_turn([&](auto& o) { return Parts{power(o, 0.5), multiply(o, 0.9)}; }, 2, 4);
  CHECK(largest_difference(second, {1, 0.5, 0.45, 0.405}) < 1e-15);
  const auto average = rates_in_turn(
      [&](auto& o) {
        return Parts{power(o, 0.5), std::make_shared<optim::SWALR>(o, 0.125, 2, "linear")};
      },
      3, 6);
  CHECK(largest_difference(average, {1, 0.5, 0.25, 0.25, 0.1875, 0.125}) < 1e-15);
}

TEST_CASE("schedules follow each other, or step together, and go on from a saved state") {
  const auto make = [](optim::SGD& optimizer) {
    std::vector<std::shared_ptr<optim::LRScheduler>> parts = {std::make_shared<optim::ConstantLR>(optimizer, 0.5, 3),
                                                              std::make_shared<optim::ExponentialLR>(optimizer, 0.5)};
    return std::make_unique<optim::SequentialLR>(optimizer, parts, std::vector<std::int64_t>{2});
  };
  optim::SGD optimizer({keyway::zeros({1}).requires_grad_()}, optim::SGDOptions(2));
  auto schedule = make(optimizer);
  std::vector<double> rates;
  for (int i = 0; i < 5; ++i, schedule->step()) {
    rates.push_back(rate_of(optimizer));
    if (i != 2) continue;
    const nn::StateDict of_optimizer = optimizer.state_dict(), of_schedule = schedule->state_dict();
    schedule = make(optimizer);
    optimizer.load_state_dict(of_optimizer);
    schedule->load_state_dict(of_schedule);
  }
  CHECK(rates == std::vector<double>{1, 1, 2, 1, 0.5});
  CHECK(error_of([&] { schedule->load_state_dict({}); }) == "the state of a schedule lacks the number 'last_epoch'");

  optim::SGD other({keyway::zeros({1}).requires_grad_()}, optim::SGDOptions(2));
  CHECK(error_of([&] {
          optim::ChainedScheduler({std::make_shared<optim::ExponentialLR>(optimizer, 0.5),
                                   std::make_shared<optim::ExponentialLR>(other, 0.5)});
        }) == "ChainedScheduler: its schedules must have one optimizer");
}

TEST_CASE("StepLR falls by gamma every few steps") {
  optim::SGD optimizer({keyway::zeros({1}).requires_grad_()}, optim::SGDOptions(2));
  optim::StepLR schedule(optimizer, 3, 0.5);
  std::vector<double> rates;
  for (int i = 0; i < 7; ++i, schedule.step()) rates.push_back(rate_of(optimizer));
  CHECK(rates == std::vector<double>{2, 2, 2, 1, 1, 1, 0.5});
}

TEST_CASE("schedules with something for each group refuse a step when groups were added") {
  const auto check = [](const std::function<std::unique_ptr<optim::LRScheduler>(optim::Optimizer&)>& make) {
    optim::SGD optimizer({keyway::zeros({1}).requires_grad_()}, optim::SGDOptions(1).momentum(0.5));
    const auto schedule = make(optimizer);
    optimizer.add_param_group({{keyway::zeros({2}).requires_grad_()}});
    CHECK(error_of([&] { schedule->step(); }) ==
          "a schedule was made for 1 groups of parameters, but the optimizer has 2: make the schedule after "
          "add_param_group()");
    CHECK(schedule->step_count() == 0);
  };
  const optim::LambdaLR::Lambda half = [](std::int64_t) { return 0.5; };
  using optim::Optimizer;
  check([&](Optimizer& o) { return std::make_unique<optim::LambdaLR>(o, half); });
  check([&](Optimizer& o) { return std::make_unique<optim::MultiplicativeLR>(o, half); });
  check([](Optimizer& o) { return std::make_unique<optim::CosineAnnealingLR>(o, 1); });
  check([](Optimizer& o) { return std::make_unique<optim::CosineAnnealingWarmRestarts>(o, 1); });
  check([](Optimizer& o) { return std::make_unique<optim::SWALR>(o, 0.5); });
  check([](Optimizer& o) { return std::make_unique<optim::CyclicLR>(o, optim::CyclicLROptions(0.1, 0.5)); });
  check([](Optimizer& o) { return std::make_unique<optim::OneCycleLR>(o, optim::OneCycleLROptions(1, 10)); });
}

TEST_CASE("a schedule that is refused leaves the optimizer as it was") {
  optim::SGD optimizer({keyway::zeros({1}).requires_grad_()}, optim::SGDOptions(2).momentum(0.5));
  const auto check = [&](const std::function<void()>& make) {
    CHECK(!error_of(make).empty());
    CHECK(!optimizer.param_groups()[0].initial_lr);
    CHECK(rate_of(optimizer) == 2);
    CHECK(optimizer.param_groups()[0].options().get_momentum() == 0.5);
  };
  check([&] { optim::StepLR(optimizer, 0); });
  check([&] { optim::CyclicLR(optimizer, optim::CyclicLROptions(0.1, 0.5).base_momentum({0.1, 0.2})); });
  check([&] { optim::OneCycleLR(optimizer, optim::OneCycleLROptions(1, 10).max_momentum({0.1, 0.2})); });
  check([&] {
    optim::LambdaLR(optimizer, optim::LambdaLR::Lambda([](std::int64_t) -> double { KEYWAY_CHECK(false, "no"); }));
  });
}

TEST_CASE("after a step that throws a chain is where it was") {
  optim::SGD optimizer({keyway::zeros({1}).requires_grad_()}, optim::SGDOptions(2));
  const optim::LambdaLR::Lambda raises = [](std::int64_t) -> double { KEYWAY_CHECK(false, "no rate"); };
  const auto part = std::make_shared<optim::MultiplicativeLR>(optimizer, raises);
  optim::ChainedScheduler chained({part});
  optim::SequentialLR sequential(optimizer, {part, std::make_shared<optim::StepLR>(optimizer, 1)}, {5});
  CHECK(error_of([&] { chained.step(); }) == "no rate");
  CHECK(error_of([&] { sequential.step(); }) == "no rate");
  CHECK(chained.step_count() == 0);
  CHECK(sequential.step_count() == 0);
  CHECK(part->step_count() == 0);
  CHECK(rate_of(optimizer) == 2);
}

TEST_CASE("schedules that lead nowhere are refused") {
  optim::SGD optimizer({keyway::zeros({1}).requires_grad_()}, optim::SGDOptions(2));
  CHECK(error_of([&] { optim::StepLR(optimizer, 0); }) == "StepLR: the step size is 0, but must be positive");
}
