// Control flow in graphs. The oracle is the same program run eagerly, and mathematics.
#include <keyway/autograd/engine.h>
#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/graph/add_call.h>
#include <keyway/graph/control_flow.h>
#include <keyway/graph/effects.h>
#include <keyway/graph/passes/dead_code.h>
#include <keyway/graph/plan.h>
#include <keyway/graph/subgraph.h>
#include <keyway/ops/all.h>
#include <keyway/ops/tensor_literal.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/error_texts.h>
#include <keyway/tests/graph/replayed.h>

using namespace keyway;
using namespace keyway::graph;
using namespace keyway::testing;

namespace {

using Tensors = std::vector<Tensor>;

// x * 2, or -x where the first input is false.
Tensors double_or_negate(const Tensors& in) {
  return cond(
      in[0], [](const Tensors& x) { return Tensors{x[0] * 2}; }, [](const Tensors& x) { return Tensors{x[0].neg()}; },
      {in[1]});
}

// x doubled until its sum is at least that of the first input.
Tensors doubled(const Tensors& in) {
  const Tensor least = in[0].sum();
  return while_loop([&](const Tensors& x) { return Tensors{x[0].sum() < least}; },
                    [](const Tensors& x) { return Tensors{x[0] * 2}; }, {in[1]});
}

}  // namespace

TEST_CASE("a graph calls the function that the predicate chooses, in each run") {
  for (const Level level : {Level::Executed, Level::Program}) {
    const Graph program = captured(double_or_negate, {tensor(true), tensor({1.0, 2.0})}, level);
    CHECK(program.nodes.size() == 1);
    for (const bool choice : {false, true}) {
      const Tensors inputs = {tensor(choice), tensor({3.0, -4.0})};
      CHECK(bit_difference(run(program, inputs), double_or_negate(inputs)) == "");
      if (level == Level::Program) continue;
      Plan plan(program);
      for (int i = 0; i < 3; ++i) CHECK(bit_difference(plan.run(inputs), double_or_negate(inputs)) == "");
    }
  }
}

TEST_CASE("a graph calls the body of a loop as often as its condition holds") {
  for (const Level level : {Level::Executed, Level::Program}) {
    const Graph program = captured(doubled, {tensor({8.0}), tensor({1.0, 2.0})}, level);
    for (const double least : {0.0, 4.0, 1000.0}) {
      const Tensors inputs = {tensor({least}), tensor({0.5, 0.25})};
      CHECK(bit_difference(run(program, inputs), doubled(inputs)) == "");
    }
  }
}

TEST_CASE("operands lie in a graph as they do in the program, and share memory") {
  const Tensor matrix = arange(0.0, 12.0).reshape({3, 4});
  const Program program = [](const Tensors& in) {
    return cond(
        in[0], [](const Tensors& x) { return Tensors{x[0] + x[1]}; },
        [](const Tensors& x) { return Tensors{x[1].as_strided({3}, {1}, 2) - x[0].select(0, 0).sum()}; },
        {in[1], in[2]});
  };
  const auto inputs = [&](bool choice) {
    return Tensors{tensor(choice), matrix.t().select(0, 1), matrix.t().select(0, 2)};
  };
  const Graph graph = captured(program, inputs(true));
  for (const bool choice : {false, true})
    CHECK(bit_difference(run(graph, inputs(choice)), program(inputs(choice))) == "");
}

TEST_CASE("what is executed of a cond with a gradient has a cond for it") {
  const Program program = [](const Tensors& in) {
    const Tensors y = cond(
        in[0], [&](const Tensors& x) { return Tensors{x[0] * in[2]}; },
        [](const Tensors& x) { return Tensors{x[0].exp()}; }, {in[1]});
    return autograd::grad({y[0].sum()}, {in[1], in[2]});
  };
  const auto inputs = [](bool choice) {
    return Tensors{tensor(choice), tensor({1.0, 2.0}).requires_grad_(), tensor({3.0, 5.0}).requires_grad_()};
  };
  const Graph graph = captured(program, inputs(true));
  CHECK(bit_difference(run(graph, inputs(true)), {tensor({3.0, 5.0}), tensor({1.0, 2.0})}) == "");
  CHECK(bit_difference(run(graph, inputs(false)), {tensor({1.0, 2.0}).exp(), tensor({0.0, 0.0})}) == "");
}

TEST_CASE("a call of a graph that is no function is refused") {
  const auto graph_of = [](const Program& program, const Tensors& inputs) {
    return Subgraph(captured(program, inputs));
  };
  const Tensor outside = tensor({1.0});
  CHECK(error_of([&] {
          graph_of([](const Tensors& in) { return Tensors{in[0]}; }, {outside});
        }).find("lies in the memory of a tensor from outside") != std::string::npos);
  CHECK(error_of([&] {
          graph_of([](const Tensors& in) { return Tensors{in[0].mul_(2) + 1}; }, {tensor({1.0})});
        }).find("writes in place") != std::string::npos);
  CHECK(error_of([&] { graph_of([&](const Tensors&) { return Tensors{outside + 1}; }, {}); }).find("has no state") !=
        std::string::npos);
  const Subgraph good = graph_of([](const Tensors& in) { return Tensors{in[0] + 1}; }, {outside});
  CHECK(error_of([&] { good.run({}); }).find("takes 1 tensors, not 0") != std::string::npos);
  CHECK(error_of([&] { good.run({tensor({1.0, 2.0})}); }).find("tensor 0 of the graph is") != std::string::npos);
}

TEST_CASE("a call with random numbers or checks in a graph has an effect, and goes with neither") {
  const auto node_of = [](const Program& program) { return captured(program, {tensor(true), tensor({1.0})}).nodes[0]; };
  CHECK(is_pure(node_of(double_or_negate)));
  const auto with = [](auto first) {
    return [first](const Tensors& in) {
      return cond(in[0], first, [](const Tensors& x) { return Tensors{x[0].neg()}; }, {in[1]});
    };
  };
  const Node random = node_of(with([](const Tensors& x) { return Tensors{x[0] + rand({1}, x[0].options())}; }));
  CHECK((draws_random(random) && has_effect(random) && !is_pure(random)));
  const Node checked = node_of(with([](const Tensors& x) {
    keyway::_assert_async(x[0].sum() > 0, "too small");
    return Tensors{x[0] * 2};
  }));
  CHECK((!draws_random(checked) && has_effect(checked) && !is_pure(checked)));
}

TEST_CASE("a check of elements is made in each run") {
  const Program program = [](const Tensors& in) {
    keyway::_assert_async((in[0] > 0).all(), "all must be positive");
    return Tensors{in[0] * 2};
  };
  const Graph graph = eliminate_dead_code(captured(program, {tensor({1.0})}));
  CHECK(bit_difference(run(graph, {tensor({2.0})}), {tensor({4.0})}) == "");
  CHECK(error_of([&] { run(graph, {tensor({-2.0})}); }).find("all must be positive") != std::string::npos);
  Plan plan(graph);
  plan.run({tensor({2.0})});
  CHECK(error_of([&] { plan.run({tensor({-2.0})}); }).find("all must be positive") != std::string::npos);
  CHECK(bit_difference(plan.run({tensor({3.0})}), {tensor({6.0})}) == "");
}

TEST_CASE("a text with graphs in graphs that is cut or nested too deep is no graph") {
  const std::string text = to_string(captured(double_or_negate, {tensor(true), tensor({1.0, 2.0})}));
  CHECK(to_string(parse(text)) == text);
  for (std::size_t size = 0; size + 2 < text.size(); ++size) CHECK_THROWS_AS(parse(text.substr(0, size)), Error);
  std::string deep = "graph executed(%0: bool[]) {\n";
  for (int i = 0; i < 1000; ++i) deep += "[] = keyway::cond(%0, graph executed(%0: bool[]) {\n";
  CHECK_THROWS_AS(parse(deep), Error);
  CHECK(error_of([&] {
          parse("graph executed(%0: bool[]) {\n[] = keyway::cond(%0, '0', '1', [])\nreturn ()\n}\n");
        }).find("a graph is missing") != std::string::npos);
}
