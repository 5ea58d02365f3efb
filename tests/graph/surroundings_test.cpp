// What stands around a program: other threads, generators, hooks, memory that lies twice. A graph follows it, or is
// refused.
#include <keyway/autograd/engine.h>
#include <keyway/autograd/variable.h>
#include <keyway/core/random/generator.h>
#include <keyway/graph/plan.h>
#include <keyway/ops/all.h>
#include <keyway/ops/from_blob.h>
#include <keyway/ops/tensor_literal.h>
#include <keyway/tasks/launch.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/error_texts.h>
#include <keyway/tests/graph/replayed.h>

#include <thread>

using namespace keyway;
using namespace keyway::graph;
using namespace keyway::testing;
using Catch::Matchers::Contains;

namespace {

void in_thread(const std::function<void()>& work) { std::thread(work).join(); }

Graph captured_of(const std::function<Tensor(const Tensor&)>& program, const Tensor& x) {
  return captured([&](const std::vector<Tensor>& in) { return std::vector<Tensor>{program(in[0])}; }, {x});
}

}  // namespace

TEST_CASE("what another thread makes or writes to within a capture is refused, and what it did before is not") {
  const Tensor x = tensor({1.0f, 2.0f}), weight = tensor({3.0f, 4.0f});
  in_thread([&] { weight.mul_(2); });
  CHECK(run(captured_of([&](const Tensor& in) { return in * weight; }, x), {x})[0].equal(tensor({6.0f, 16.0f})));
  Tensor made;
  const auto makes = [&](const Tensor& in) {
    in_thread([&] { made = in * 2; });
    return made + 1;
  };
  CHECK_THROWS_WITH(captured_of(makes, x), Contains("another thread has made a tensor"));
  const auto writes = [&](const Tensor& in) {
    in_thread([&] { weight.add_(in); });
    return in * weight;
  };
  CHECK_THROWS_WITH(captured_of(writes, x), Contains("another thread has written to a tensor"));
}

TEST_CASE("a task that is launched within a capture runs where it is launched, and is in the graph") {
  const auto program = [](const Tensor& in) {
    const Future<Tensor> left = launch([&] { return in * 2; });
    return left.wait() + launch([&] { return in.exp(); }).wait();
  };
  const Graph graph = captured_of(program, tensor({1.0f, 2.0f}));
  CHECK(graph.nodes.size() == 3);
  const Tensor other = tensor({-1.0f, 0.5f});
  CHECK(run(graph, {other})[0].equal(other * 2 + other.exp()));
}

TEST_CASE("a generator that is made, or whose state is read, within a capture is refused") {
  const Tensor x = tensor({1.0f, 2.0f});
  CHECK_THROWS_WITH(captured_of([](const Tensor& in) { return in + rand({2}, Generator()); }, x),
                    Contains("a generator is made"));
  const auto reads = [](const Tensor& in) {
    return in * static_cast<double>(default_cpu_generator().get_state().call);
  };
  CHECK_THROWS_WITH(captured_of(reads, x), Contains("its state is"));
}

TEST_CASE("a graph that writes does not hold for two storages over one memory") {
  float memory[4] = {1, 2, 3, 4};
  const testing::Program program = [](const std::vector<Tensor>& in) {
    in[0].mul_(2);
    return std::vector<Tensor>{in[1] + 1};
  };
  Plan plan(captured(program, {tensor({1.0f, 2.0f, 3.0f}), tensor({1.0f, 2.0f, 3.0f})}));
  const std::vector<Tensor> overlapping = {from_blob(memory, {3}), from_blob(memory + 1, {3})};
  CHECK_THROWS_WITH(plan.run(overlapping), Contains("lie in one memory, but in different storages"));
  CHECK(memory[0] == 1);
  float apart[6] = {1, 2, 3, 4, 5, 6};
  CHECK(plan.run({from_blob(apart, {3}), from_blob(apart + 3, {3})})[0].equal(tensor({5.0f, 6.0f, 7.0f})));
}

TEST_CASE("storages over one memory may overlap where both are only read") {
  const testing::Program program = [](const std::vector<Tensor>& in) {
    in[0].mul_(2);
    return std::vector<Tensor>{in[1].sum() + in[2]};
  };
  Plan plan(captured(program, {tensor({1.0f}), tensor({1.0f, 2.0f, 3.0f}), tensor({1.0f})}));
  float written[1] = {5}, memory[3] = {1, 2, 3};
  const Tensor whole = from_blob(memory, {3}), second = from_blob(memory + 1, {1}), last = from_blob(memory + 2, {1});
  CHECK(plan.run({from_blob(written, {1}), whole, second})[0].equal(tensor({8.0f})));
  CHECK(written[0] == 10);
  // The one that begins first reaches over that which begins next.
  CHECK_THROWS_WITH(plan.run({last, whole, second}), Contains("argument 1 and argument 0 lie in one memory"));
  CHECK(memory[2] == 3);
}

TEST_CASE("a graph does not hold for a leaf with other hooks") {
  const Tensor weight = tensor({1.0f, 2.0f}).requires_grad_(), x = tensor({3.0f, 4.0f});
  const auto program = [&](const Tensor& in) { return autograd::grad({(in * weight).sum()}, {weight})[0]; };
  const Graph without = captured_of(program, x);
  CHECK(run(without, {x})[0].equal(x));
  autograd::register_hook(weight, [](const Tensor& grad) { return grad * 10; });
  CHECK(mismatch(without, {x}).value_or("") == "the state has hooks, which it did not have in the capture");
  const Graph with = captured_of(program, x);
  CHECK(run(with, {x})[0].equal(x * 10));
  autograd::register_hook(weight, [](const Tensor& grad) { return grad + 1; });
  CHECK_THAT(mismatch(with, {x}).value_or(""), Contains("hooks were added or removed"));
}

TEST_CASE("an error of a kernel that a plan calls directly says what that of a call says") {
  const testing::Program program = [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{in[0].index_select(0, in[1])};
  };
  const Tensor x = tensor({1.0f, 2.0f});
  Plan plan(captured(program, {x, tensor({std::int64_t{1}})}));
  plan.run({x, tensor({std::int64_t{0}})});
  REQUIRE(plan.statistics().direct_calls == 1);
  const Tensor outside = tensor({std::int64_t{7}});
  CHECK(error_of([&] { plan.run({x, outside}); }) == error_of([&] { x.index_select(0, outside); }));
}
