// A user's own Function.
#include <keyway/autograd/gradcheck.h>
#include <keyway/tests/autograd/values.h>
#include <keyway/tests/catch.h>

#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>

using namespace keyway;
using namespace keyway::testing;
using autograd::AutogradContext;
using autograd::Function;
using autograd::variable_list;

namespace {

struct Cube : Function<Cube> {
  static Tensor forward(AutogradContext& ctx, const Tensor& x) {
    CHECK_FALSE(grad_enabled());
    ctx.save_for_backward({x});
    return x * x * x;
  }
  static variable_list backward(AutogradContext& ctx, variable_list grads) {
    const Tensor x = ctx.saved_tensors()[0];
    return {3 * x * x * grads[0]};
  }
};

// Saves its result.
struct Exponential : Function<Exponential> {
  static Tensor forward(AutogradContext& ctx, const Tensor& x) {
    const Tensor result = x.exp();
    ctx.save_for_backward({result});
    return result;
  }
  static variable_list backward(AutogradContext& ctx, variable_list grads) {
    return {ctx.saved_tensors()[0] * grads[0]};
  }
};

// A Function of which each test says what it does.
struct Scripted : Function<Scripted> {
  static inline std::function<variable_list(AutogradContext&, const variable_list&)> on_forward;
  static inline std::function<variable_list(AutogradContext&, const variable_list&)> on_backward;
  static variable_list forward(AutogradContext& ctx, const variable_list& inputs) { return on_forward(ctx, inputs); }
  static variable_list backward(AutogradContext& ctx, variable_list grads) { return on_backward(ctx, grads); }
};

}  // namespace

TEST_CASE("a Function's result has its backward as gradient") {
  const Tensor x = leaf({2, 3});
  const Tensor y = Cube::apply(x);
  CHECK(values_of(y) == Values{8, 27});
  CHECK(lacks(autograd::grad_fn(y)->name(), {"Cube"}) == "");
  y.sum().backward();
  CHECK(values_of(x.grad()) == Values{12, 27});
}

TEST_CASE("the gradient of a Function has a gradient, of saved inputs and of saved results") {
  const auto cube = [](const variable_list& x) { return variable_list{Cube::apply(x[0])}; };
  const auto exponential = [](const variable_list& x) { return variable_list{Exponential::apply(x[0])}; };
  CHECK(autograd::gradgradcheck(cube, {leaf({2, -1})}));
  CHECK(autograd::gradgradcheck(exponential, {leaf({0.5, -1})}));
}

TEST_CASE("a Function records nothing under no_grad or without an input that requires a gradient") {
  const Tensor x = leaf({2});
  CHECK_FALSE(Cube::apply(numbers({2})).requires_grad());
  const NoGradGuard no_grad;
  CHECK_FALSE(Cube::apply(x).requires_grad());
}

TEST_CASE("what a Function saved is gone after a backward without retain_graph, and a change of it is noticed") {
  const Tensor x = leaf({2});
  const Tensor y = Cube::apply(x);
  y.backward();
  CHECK(lacks(error_of([&] { y.backward(); }), {"Cube", "second time", "retain_graph"}) == "");
  const Tensor h = x * 1;
  const Tensor z = Cube::apply(h);
  h.mul_(2);
  CHECK(lacks(error_of([&] { z.backward(); }), {"Cube", "changed in place", "version"}) == "");
}

TEST_CASE("saved tensors come with their history, whether backward is recorded or not") {
  const Tensor x = leaf({2});
  const Tensor h = x * 1;
  Scripted::on_forward = [](AutogradContext& ctx, const variable_list& inputs) {
    const Tensor result = inputs[0] * inputs[1];
    ctx.save_for_backward({inputs[0], inputs[1], result, Tensor(), numbers({7})});
    return variable_list{result};
  };
  Tensor result;
  int calls = 0;
  Scripted::on_backward = [&](AutogradContext& ctx, const variable_list& grads) {
    const variable_list saved = ctx.saved_tensors();
    REQUIRE(saved.size() == 5);
    CHECK(saved[0].is_same(x));
    CHECK(autograd::grad_fn(saved[1]) == autograd::grad_fn(h));
    CHECK(autograd::grad_fn(saved[2]) == autograd::grad_fn(result));
    CHECK_FALSE(saved[3].defined());
    CHECK_FALSE(saved[4].requires_grad());
    CHECK(values_of(saved[4]) == Values{7});
    ++calls;
    return variable_list{saved[1] * grads[0], saved[0] * grads[0]};
  };
  result = Scripted::apply(variable_list{x, h})[0];
  result.backward({}, true);
  CHECK(values_of(x.grad()) == Values{4});
  result.backward({}, true, true);
  CHECK(calls == 2);
  // The gradient's history knows the leaf.
  autograd::set_grad(x, Tensor());
}

TEST_CASE("saved_data keeps values, and arguments that are no tensors need no gradient") {
  struct Scale : Function<Scale> {
    static Tensor forward(AutogradContext& ctx, const Tensor& x, double factor) {
      ctx.saved_data["factor"] = factor;
      return x * factor;
    }
    static variable_list backward(AutogradContext& ctx, variable_list grads) {
      return {grads[0] * ctx.saved_data["factor"].to_double()};
    }
  };
  const Tensor x = leaf({2});
  Scale::apply(x, 2.5).backward();
  CHECK(values_of(x.grad()) == Values{2.5});
}

TEST_CASE("needs_input_grad tells which gradients are wanted, of the inputs and of the running backward") {
  const Tensor a = leaf({2}), b = numbers({3}), c = leaf({4});
  std::vector<bool> forward_needs, needs;
  const auto ask = [](AutogradContext& ctx) {
    return std::vector<bool>{ctx.needs_input_grad(0), ctx.needs_input_grad(1), ctx.needs_input_grad(2)};
  };
  Scripted::on_forward = [&](AutogradContext& ctx, const variable_list& inputs) {
    forward_needs = ask(ctx);
    return variable_list{inputs[0] * inputs[1] * inputs[2]};
  };
  Scripted::on_backward = [&](AutogradContext& ctx, const variable_list& grads) {
    needs = ask(ctx);
    return variable_list{grads[0], Tensor(), grads[0]};
  };
  const Tensor y = Scripted::apply(variable_list{a, b, c})[0];
  CHECK(forward_needs == std::vector<bool>{true, false, true});
  y.backward({}, true);
  CHECK(needs == std::vector<bool>{true, false, true});
  autograd::grad({y}, {c});
  CHECK(needs == std::vector<bool>{false, false, true});
}

TEST_CASE("outputs without a gradient get zeros in backward, or undefined tensors if asked") {
  const Tensor x = leaf({1, 2});
  for (const bool materialize : {true, false}) {
    Scripted::on_forward = [&](AutogradContext& ctx, const variable_list& inputs) {
      if (!materialize) ctx.set_materialize_grads(false);
      return variable_list{inputs[0] * 1, inputs[0].sum()};
    };
    variable_list seen;
    Scripted::on_backward = [&](AutogradContext&, const variable_list& grads) {
      seen = grads;
      return variable_list{grads[0]};
    };
    Scripted::apply(variable_list{x})[0].sum().backward();
    REQUIRE(seen.size() == 2);
    CHECK(values_of(seen[1]) == (materialize ? Values{0} : Values{}));
    CHECK(seen[1].defined() == materialize);
    if (materialize) CHECK(seen[1].dim() == 0);
  }
}

TEST_CASE("an undefined gradient is no gradient") {
  const Tensor a = leaf({2}), b = leaf({3});
  Scripted::on_forward = [](AutogradContext&, const variable_list& inputs) {
    return variable_list{inputs[0] * inputs[1]};
  };
  Scripted::on_backward = [](AutogradContext&, const variable_list& grads) {
    return variable_list{Tensor(), grads[0]};
  };
  Scripted::apply(variable_list{a, b})[0].backward();
  CHECK_FALSE(a.grad().defined());
  CHECK(values_of(b.grad()) == Values{1});
}

TEST_CASE("a Function returns one gradient for each tensor, of its shape") {
  const Tensor x = leaf({2, 3});
  Scripted::on_forward = [](AutogradContext&, const variable_list& inputs) { return variable_list{inputs[0] * 1}; };
  Scripted::on_backward = [](AutogradContext&, const variable_list& grads) {
    return variable_list{grads[0], grads[0]};
  };
  CHECK(lacks(error_of([&] { Scripted::apply(variable_list{x})[0].sum().backward(); }),
              {"Scripted", "2 gradients", "1 tensors"}) == "");
  Scripted::on_backward = [](AutogradContext&, const variable_list&) { return variable_list(); };
  CHECK(lacks(error_of([&] { Scripted::apply(variable_list{x})[0].sum().backward(); }), {"Scripted", "0 gradients"}) ==
        "");
  Scripted::on_backward = [](AutogradContext&, const variable_list&) { return variable_list{numbers({1, 2, 3})}; };
  CHECK(lacks(error_of([&] { Scripted::apply(variable_list{x})[0].sum().backward(); }), {"Scripted", "[3]", "[2]"}) ==
        "");
  CHECK_FALSE(x.grad().defined());
}

TEST_CASE("a Function that throws leaves nothing behind") {
  const Tensor x = leaf({2});
  Scripted::on_forward = [](AutogradContext&, const variable_list&) -> variable_list {
    throw std::runtime_error("in forward");
  };
  CHECK_THROWS_WITH(Scripted::apply(variable_list{x}), "in forward");
  CHECK(grad_enabled());
  Scripted::on_forward = [](AutogradContext&, const variable_list& inputs) { return variable_list{inputs[0] * 1}; };
  Scripted::on_backward = [](AutogradContext&, const variable_list&) -> variable_list {
    throw std::runtime_error("in backward");
  };
  CHECK_THROWS_WITH(Scripted::apply(variable_list{x})[0].backward(), "in backward");
  CHECK(grad_enabled());
  CHECK_FALSE(x.grad().defined());
  Cube::apply(x).backward();
  CHECK(values_of(x.grad()) == Values{12});
}

// --- Kinds of arguments

namespace {

// One argument, of any kind, and behind it a tensor: 10 times the first tensor of the argument, as `first` tells, less
// the other one. The argument has `count` tensors.
template <typename Argument>
struct Of : Function<Of<Argument>> {
  static inline std::function<Tensor(const Argument&)> first;
  static inline std::size_t count = 1;
  static Tensor forward(AutogradContext&, const Argument& argument, const Tensor& last) {
    return first(argument) * 10 - last;
  }
  static variable_list backward(AutogradContext&, const variable_list& grads) {
    variable_list of(count + 1);
    of.front() = grads[0] * 10;
    of.back() = grads[0] * -1;
    return of;
  }
};

// What is wrong with the gradients of a Function that takes `argument`, in which `x` is the first of `count` tensors.
template <typename Argument>
std::string wrong_with(const Tensor& x, const Argument& argument, std::size_t count,
                       std::function<Tensor(const Argument&)> first) {
  Of<Argument>::first = std::move(first);
  Of<Argument>::count = count;
  autograd::set_grad(x, Tensor());
  const Tensor last = leaf({1});
  const Tensor result = Of<Argument>::apply(argument, last);
  if (!result.requires_grad()) return "no gradient";
  result.sum().backward();
  if (values_of(x.grad()) != Values{10}) return "the argument's gradient is wrong";
  return values_of(last.grad()) == Values{-1} ? "" : "the tensor's behind it is wrong";
}

}  // namespace

TEST_CASE("a Function sees the tensors of whatever kind of argument they come in") {
  const Tensor x = leaf({2}), other = numbers({3});
  const variable_list both = {x, other};
  CHECK(wrong_with<TensorBase>(x, x, 1, [](const TensorBase& t) { return Tensor(t); }) == "");
  CHECK(wrong_with<std::optional<Tensor>>(x, x, 1, [](const auto& t) { return *t; }) == "");
  CHECK(wrong_with<ArrayRef<Tensor>>(x, both, 2, [](const auto& t) { return t[0]; }) == "");
  CHECK(wrong_with<variable_list>(x, both, 2, [](const auto& t) { return t[0]; }) == "");
  CHECK(wrong_with<std::array<Tensor, 2>>(x, {x, other}, 2, [](const auto& t) { return t[0]; }) == "");
  CHECK(wrong_with<std::vector<TensorBase>>(x, {x, other}, 2, [](const auto& t) { return Tensor(t[0]); }) == "");
  CHECK(wrong_with<std::vector<std::optional<Tensor>>>(x, {x, std::nullopt}, 2, [](const auto& t) { return *t[0]; }) ==
        "");
  CHECK(wrong_with<std::optional<variable_list>>(x, both, 2, [](const auto& t) { return t->front(); }) == "");
  CHECK(wrong_with<std::vector<variable_list>>(x, {{x}, {}, {other}}, 2, [](const auto& t) { return t[0][0]; }) == "");
  CHECK(wrong_with<std::pair<Tensor, int>>(x, {x, 7}, 1, [](const auto& t) { return t.first; }) == "");
  CHECK(wrong_with<std::tuple<int, variable_list, Tensor>>(x, {7, {x}, other}, 2,
                                                           [](const auto& t) { return std::get<1>(t)[0]; }) == "");
  CHECK(wrong_with<std::map<std::string, Tensor>>(x, {{"a", x}, {"b", other}}, 2,
                                                  [](const auto& t) { return t.at("a"); }) == "");
}

TEST_CASE("an absent optional tensor of a Function has its slot among the gradients, too") {
  struct Scaled : Function<Scaled> {
    static Tensor forward(AutogradContext& ctx, const Tensor& x, const std::optional<Tensor>& scale, double factor) {
      ctx.saved_data["factor"] = factor;
      return scale ? x * *scale * factor : x * factor;
    }
    static variable_list backward(AutogradContext& ctx, const variable_list& grads) {
      CHECK_FALSE(ctx.needs_input_grad(1));
      return {grads[0] * ctx.saved_data.at("factor").to_double(), Tensor()};
    }
  };
  const Tensor x = leaf({2});
  Scaled::apply(x, std::optional<Tensor>(), 3.0).backward();
  CHECK(values_of(x.grad()) == Values{3});
}

TEST_CASE("a Function that changes a view in place and keeps its result has a second derivative") {
  struct ExponentialOf : Function<ExponentialOf> {
    static Tensor forward(AutogradContext& ctx, Tensor x) {
      x.exp_();
      ctx.mark_dirty({x});
      ctx.save_for_backward({x});
      return x;
    }
    static variable_list backward(AutogradContext& ctx, const variable_list& grads) {
      return {ctx.saved_tensors()[0] * grads[0]};
    }
  };
  const Tensor x = leaf({0, 1, 2, 3});
  const Tensor base = x * 1;
  ExponentialOf::apply(base.view({2, 2}).t());
  const Tensor first = autograd::grad({base.sum()}, {x}, {}, true, true)[0];
  const Values second = values_of(autograd::grad({(first * numbers({1, 10, 100, 1000})).sum()}, {x})[0]);
  for (std::size_t i = 0; i < 4; ++i) CHECK(second[i] == Approx(std::pow(10, i) * std::exp(static_cast<double>(i))));
}
