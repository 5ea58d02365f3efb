#include <keyway/autograd/variable.h>
#include <keyway/nn/optim/grad_scaler.h>
#include <keyway/nn/optim/sgd.h>
#include <keyway/ops/all.h>
#include <keyway/tests/catch.h>

#include <limits>

using namespace keyway;
using keyway::testing::error_of;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

struct Training {
  Tensor a = ones({2}).requires_grad_(), b = ones({3}, kBFloat16).requires_grad_();
  optim::SGD optimizer{{a, b}, optim::SGDOptions(0.5)};
  optim::GradScaler scaler{optim::GradScalerOptions().init_scale(8).growth_interval(2)};

  void backward(double factor) {
    optimizer.zero_grad();
    scaler.scale((a.sum() + b.sum().to(kFloat)) * factor).backward();
  }
  // One round; whether the step was made.
  bool step(double factor) {
    backward(factor);
    const bool made = scaler.step(optimizer);
    scaler.update();
    return made;
  }
};

struct Failing : optim::SGD {
  using SGD::SGD;
  Tensor step(const LossClosure& closure = nullptr) override {
    KEYWAY_CHECK(!fails, "no step");
    return SGD::step(closure);
  }
  bool fails = true;
};

}  // namespace

TEST_CASE("gradients are used as if the loss had not been scaled, and the scale grows after steps that went well") {
  Training training;
  CHECK(training.step(1));
  CHECK(training.a[0].item<float>() == 0.5f);
  CHECK(training.b[0].item<float>() == 0.5f);
  CHECK(training.scaler.get_scale() == 8);
  CHECK(training.step(1));
  CHECK(training.a[0].item<float>() == 0.0f);
  CHECK(training.scaler.get_scale() == 16);
}

TEST_CASE("a step whose gradients are not finite is left out, and the scale becomes smaller") {
  for (const float bad : {kInf, -kInf, std::numeric_limits<float>::quiet_NaN()}) {
    Training training;
    CHECK(training.step(1));
    CHECK_FALSE(training.step(bad));
    CHECK(training.a[0].item<float>() == 0.5f);
    CHECK(training.scaler.get_scale() == 4);
    // What went well before counts no longer.
    CHECK(training.step(1));
    CHECK(training.scaler.get_scale() == 4);
  }
}

TEST_CASE("the scale does not grow beyond what float32 holds") {
  Training training;
  training.scaler.load_state_dict([] {
    nn::StateDict state;
    state.insert("scale", full({}, 3e38));
    state.insert("growth_tracker", full({}, 1, kInt));
    return state;
  }());
  training.backward(1e-30);
  training.scaler.step(training.optimizer);
  training.scaler.update();
  CHECK(training.scaler.get_scale() == Approx(3e38));
  CHECK(training.scaler.state_dict().find("growth_tracker")->item<std::int64_t>() == 0);
}

TEST_CASE("gradients can be unscaled before they are clipped, once") {
  Training training;
  training.backward(2);
  CHECK(training.a.grad()[0].item<float>() == 16);
  training.scaler.unscale_(training.optimizer);
  CHECK(training.a.grad()[0].item<float>() == 2);
  CHECK(training.b.grad()[0].item<float>() == 2);
  CHECK(error_of([&] { training.scaler.unscale_(training.optimizer); }).find("unscaled already") != std::string::npos);
  CHECK(training.scaler.step(training.optimizer));
  CHECK(training.a[0].item<float>() == 0);
  CHECK(error_of([&] { training.scaler.step(training.optimizer); }).find("has made a step") != std::string::npos);
}

TEST_CASE("a step that throws can be taken again") {
  const Tensor a = ones({2}).requires_grad_();
  Failing optimizer({a}, optim::SGDOptions(0.5));
  optim::GradScaler scaler(optim::GradScalerOptions().init_scale(8));
  scaler.scale(a.sum()).backward();
  CHECK(error_of([&] { scaler.step(optimizer); }) == "no step");
  optimizer.fails = false;
  CHECK(scaler.step(optimizer));
  CHECK(a[0].item<float>() == 0.5f);
}

TEST_CASE("what a scaler refuses") {
  using Options = optim::GradScalerOptions;
  CHECK(error_of([] { optim::GradScaler(Options().growth_factor(1)); }).find("growth_factor is 1") !=
        std::string::npos);
  CHECK(error_of([] { optim::GradScaler(Options().backoff_factor(1)); }).find("backoff_factor is 1") !=
        std::string::npos);
  CHECK(error_of([] { optim::GradScaler(Options().growth_interval(0)); }).find("growth_interval is 0") !=
        std::string::npos);
  Training training;
  CHECK(error_of([&] { training.scaler.step(training.optimizer); }).find("no loss was scaled") != std::string::npos);
  training.scaler.scale(ones({}));
  CHECK(error_of([&] { training.scaler.step(training.optimizer); }).find("has a gradient") != std::string::npos);
  CHECK(error_of([&] { training.scaler.update(); }).find("no gradients were unscaled") != std::string::npos);
  const Tensor half = ones({2}, kHalf).requires_grad_();
  optim::SGD optimizer({half}, optim::SGDOptions(0.5));
  training.scaler.scale(half.sum()).backward();
  CHECK(error_of([&] { training.scaler.unscale_(optimizer); }).find("a gradient is float16") != std::string::npos);
  CHECK(error_of([&] { training.scaler.load_state_dict({}); }).find("lacks 'scale'") != std::string::npos);
}

TEST_CASE("one that is not enabled does nothing") {
  Training training;
  training.scaler = optim::GradScaler(optim::GradScalerOptions().enabled(false));
  CHECK(training.step(1));
  CHECK(training.a[0].item<float>() == 0.5f);
  CHECK(training.scaler.get_scale() == 1);
}
