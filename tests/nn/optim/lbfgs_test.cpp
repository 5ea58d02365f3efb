#include <keyway/nn/optim/lbfgs.h>
#include <keyway/ops/all.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/nn/values.h>

using namespace keyway;
using keyway::testing::error_of;
using keyway::testing::tensor_of;
using keyway::testing::values_of;

namespace {

// Of 100 (y - x^2)^2 + (1 - x)^2, whose minimum is at (1, 1), at the end of a narrow valley.
optim::Optimizer::LossClosure rosenbrock(optim::LBFGS& optimizer, const Tensor& at) {
  return [&optimizer, at] {
    optimizer.zero_grad();
    const Tensor x = at.select(0, 0), y = at.select(0, 1);
    const Tensor loss = (y - x * x).square() * 100 + (x - 1).square();
    loss.backward();
    return loss;
  };
}

}  // namespace

TEST_CASE("a search for strong Wolfe steps solves Rosenbrock's valley") {
  for (const std::int64_t history : {3, 100}) {
    const Tensor at = tensor_of({-1.2, 1}, {2}).requires_grad_();
    optim::LBFGS optimizer({at},
                           optim::LBFGSOptions().max_iter(100).line_search_fn("strong_wolfe").history_size(history));
    optimizer.step(rosenbrock(optimizer, at));
    CHECK(values_of(at)[0] == Approx(1).epsilon(1e-4));
    CHECK(values_of(at)[1] == Approx(1).epsilon(1e-4));
  }
}

TEST_CASE("LBFGS's first step follows the gradient, and the second the curvature that it has seen") {
  const Tensor x = tensor_of({4, -4}, {2}).requires_grad_();
  optim::LBFGS optimizer({x}, optim::LBFGSOptions().max_iter(1));
  const auto closure = [&] {
    optimizer.zero_grad();
    const Tensor loss = x.square().sum();
    loss.backward();
    return loss;
  };
  CHECK(optimizer.step(closure).item<double>() == 32);
  CHECK(values_of(x) == std::vector<double>{3.5, -3.5});
  optimizer.step(closure);
  CHECK(std::abs(values_of(x)[0]) < 1e-12);
}

TEST_CASE("LBFGS goes on from a state of complex parameters, whose state is of real parts") {
  const Tensor whole = view_as_complex(tensor_of({1, -2, 0.5, 4}, {2, 2})).clone().requires_grad_();
  const Tensor halves = whole.detach().clone().requires_grad_();
  const auto train = [](optim::LBFGS& optimizer, const Tensor& x) {
    optimizer.step([&] {
      optimizer.zero_grad();
      const Tensor loss = view_as_real(x).sub(3).pow(4).sum();
      loss.backward();
      return loss;
    });
  };
  optim::LBFGS one({whole}, optim::LBFGSOptions().max_iter(3)), first({halves}, optim::LBFGSOptions().max_iter(3));
  train(one, whole);
  train(one, whole);
  train(first, halves);
  optim::LBFGS second({halves});
  second.load_state_dict(first.state_dict());
  CHECK(!second.state_dict()["state.0.d"].is_complex());
  train(second, halves);
  CHECK(values_of(view_as_real(halves.detach())) == values_of(view_as_real(whole.detach())));
}

TEST_CASE("LBFGS refuses a state whose lists are not of one length") {
  const Tensor at = tensor_of({-1.2, 1}, {2}).requires_grad_();
  optim::LBFGS optimizer({at}, optim::LBFGSOptions().max_iter(4));
  optimizer.step(rosenbrock(optimizer, at));
  const nn::StateDict state = optimizer.state_dict();
  REQUIRE(state.contains("state.0.old_stps"));
  nn::StateDict lacking, shorter;
  for (const auto& [name, tensor] : state) {
    const bool is_list = name == "state.0.old_stps";
    if (!is_list) lacking.insert(name, tensor);
    shorter.insert(name, is_list ? tensor.narrow(0, 0, tensor.size(0) - 1) : tensor);
  }
  CHECK(error_of([&] { optimizer.load_state_dict(lacking); }) == "the optimizer's state lacks 'state.0.old_stps'");
  CHECK(error_of([&] { optimizer.load_state_dict(shorter); }).find("'old_stps' of a parameter") == 0);
}

TEST_CASE("LBFGS is refused several groups, an unknown search and no closure") {
  const Tensor x = tensor_of({1}, {1}).requires_grad_(), y = tensor_of({1}, {1}).requires_grad_();
  std::vector<optim::OptimizerParamGroup> groups;
  groups.emplace_back(std::vector<Tensor>{x});
  groups.emplace_back(std::vector<Tensor>{y});
  CHECK(error_of([&] { optim::LBFGS(std::move(groups)); }) ==
        "LBFGS: there are 2 groups of parameters, but must be one, with parameters");
  CHECK(error_of([&] { optim::LBFGS({x}, optim::LBFGSOptions().line_search_fn("wolfe")); }) ==
        "LBFGS: line_search_fn is 'wolfe', but must be 'strong_wolfe'");
  optim::LBFGS optimizer({x});
  CHECK(error_of([&] { optimizer.step(nullptr); }) == "LBFGS: step() calls its closure, which must be given");
}
