#include <keyway/nn/optim/lr_scheduler.h>
#include <keyway/nn/optim/sgd.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/nn/values.h>

#include <cmath>

using namespace keyway;
using keyway::testing::error_of;

namespace {

double rate_of(optim::Optimizer& optimizer) { return optimizer.param_groups()[0].options().get_lr(); }

}  // namespace

TEST_CASE("StepLR falls by gamma every few steps") {
  optim::SGD optimizer({keyway::zeros({1}).requires_grad_()}, optim::SGDOptions(2));
  optim::StepLR schedule(optimizer, 3, 0.5);
  std::vector<double> rates;
  for (int i = 0; i < 7; ++i, schedule.step()) rates.push_back(rate_of(optimizer));
  CHECK(rates == std::vector<double>{2, 2, 2, 1, 1, 1, 0.5});
}

TEST_CASE("CosineLR rises in a line, falls along a cosine and stays on its floor") {
  optim::SGD optimizer({keyway::zeros({1}).requires_grad_()}, optim::SGDOptions(2));
  optim::CosineLR schedule(optimizer, /*total=*/12, /*warmup=*/4, /*floor=*/0.1);
  std::vector<double> rates;
  for (int i = 0; i < 15; ++i, schedule.step()) rates.push_back(rate_of(optimizer));
  CHECK(rates[0] == Approx(2 * 0.2));
  CHECK(rates[3] == Approx(2 * 0.8));
  CHECK(rates[4] == Approx(2));
  CHECK(rates[8] == Approx(2 * 0.55));
  CHECK(rates[6] == Approx(2 * (0.1 + 0.9 * (1 + std::sqrt(0.5)) / 2)));
  CHECK(rates[12] == Approx(0.2));
  CHECK(rates[14] == Approx(0.2));
}

TEST_CASE("schedules that lead nowhere are refused") {
  optim::SGD optimizer({keyway::zeros({1}).requires_grad_()}, optim::SGDOptions(2));
  CHECK(error_of([&] { optim::StepLR(optimizer, 0); }) == "StepLR: the step size is 0, but must be positive");
  CHECK(error_of([&] { optim::CosineLR(optimizer, 3, 3); }) ==
        "CosineLR: 3 steps of warm-up and 3 in all leave none to fall in");
}
