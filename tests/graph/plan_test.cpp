// How plans run: which calls are made directly, and how much memory they share. What they compute, the generated suite
// holds to the calls themselves (tests/ops/graph_test.cpp).
#include <keyway/autograd/variable.h>
#include <keyway/dispatch/registry/observer.h>
#include <keyway/graph/memory_layout.h>
#include <keyway/graph/plan.h>
#include <keyway/ops/all.h>
#include <keyway/ops/from_blob.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/graph/replayed.h>

#include <optional>
#include <random>

using namespace keyway;
using namespace keyway::testing;

TEST_CASE("copies and fills of a plan lie in its arena and need no dispatcher") {
  const Program program = [](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    const Tensor rows = in[0].t().clone(MemoryFormat::Contiguous) + ones({3, 2});
    return {rows.to(kDouble).add_(full({3, 2}, 0.5, kDouble)), zeros({2}), zeros_like(rows).add(in[0].t())};
  };
  graph::Plan plan(captured(program, {randn({2, 3})}));
  for (int run = 0; run < 3; ++run) {
    const Tensor x = randn({2, 3});
    CHECK(bit_difference(plan.run({x}), program({x})) == "");
  }
  CHECK(plan.statistics().other_calls == 0);
}

TEST_CASE("gradients that are views lie in new memory in each run") {
  const Tensor weight = randn({3, 4}).requires_grad_();
  const Program program = [&](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    autograd::set_grad(weight, Tensor());
    in[0].mm(weight.t()).square().sum().backward();
    return {};
  };
  graph::Plan plan(captured(program, {randn({2, 4})}));
  const Tensor x = randn({2, 4});
  program({x});
  const Tensor expected = weight.grad();
  plan.run({x});
  plan.run({x});
  const Tensor first = weight.grad();
  plan.run({x});
  CHECK(bit_difference({weight.grad(), first}, {expected, expected.clone()}) == "");
}

TEST_CASE("a frame that is outdated is let go of without a lock") {
  float memory[3] = {1, 2, 3};
  std::optional<graph::Plan> plan;
  bool freed = false;
  Tensor state = from_blob(memory, {3}, [&](void*) {
    (void)plan->statistics();
    freed = true;
  });
  const Tensor x = ones({3});
  plan.emplace(captured([&](const std::vector<Tensor>& in) { return std::vector<Tensor>{in[0] * state}; }, {x}));
  plan->run({x});
  state.set_data(full({3}, 5.0));  // the frame holds the memory of before alone
  struct PassingObserver final : CallObserver {
    void call(const ObservedCall& call) override { call.proceed(); }
  };
  const ObserverHandle other_tables = observe_calls(std::make_shared<PassingObserver>());
  CHECK(plan->run({x})[0].equal(full({3}, 5.0)));
  CHECK(plan->statistics().learned_runs == 2);
  CHECK(freed);
}

TEST_CASE("an arena is little more than what is needed at one time") {
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    std::vector<graph::Lifetime> lifetimes;
    for (std::size_t node = 0; node < 60; ++node)
      lifetimes.push_back({std::size_t{64} << random() % 8, node, node + random() % 12});
    const graph::ArenaLayout layout = graph::lay_out(lifetimes);
    for (std::size_t i = 0; i < lifetimes.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const bool meet = lifetimes[i].first <= lifetimes[j].last && lifetimes[j].first <= lifetimes[i].last;
        const bool overlap = layout.offsets[i] < layout.offsets[j] + lifetimes[j].bytes &&
                             layout.offsets[j] < layout.offsets[i] + lifetimes[i].bytes;
        REQUIRE(!(meet && overlap));
      }
    }
    CHECK(layout.bytes >= layout.live_bytes);
    CHECK(static_cast<double>(layout.bytes) <= 1.1 * static_cast<double>(layout.live_bytes));
  }
}

TEST_CASE("an arena of many memories is laid out as well, in little time") {
  std::mt19937 random(1);
  std::vector<graph::Lifetime> lifetimes;
  for (std::size_t node = 0; node < 100'000; ++node)
    lifetimes.push_back({std::size_t{64} << random() % 8, node, node + random() % 12});
  const graph::ArenaLayout layout = graph::lay_out(lifetimes);  // pairs of all of them would take seconds
  bool are_apart = true;
  for (std::size_t i = 0; i < lifetimes.size(); ++i) {
    for (std::size_t j = i < 12 ? 0 : i - 12; j < i; ++j) {
      const bool meet = lifetimes[i].first <= lifetimes[j].last;
      const bool overlap = layout.offsets[i] < layout.offsets[j] + lifetimes[j].bytes &&
                           layout.offsets[j] < layout.offsets[i] + lifetimes[i].bytes;
      are_apart = are_apart && !(meet && overlap);
    }
  }
  CHECK(are_apart);
  CHECK(layout.bytes <= 2 * layout.live_bytes);
}

TEST_CASE("what a chain writes does not lie where its next blocks read") {
  const Program program = [](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    const Tensor mask = in[0].flip({0}).logical_not();  // an element is a quarter of one of what is chosen by it
    return {where(mask, in[1], in[2]).cumsum(0)};
  };
  constexpr std::int64_t kLength = 1 << 17;
  const auto inputs = [] { return std::vector<Tensor>{rand({kLength}).lt(0.5), randn({kLength}), randn({kLength})}; };
  graph::Plan plan(captured(program, inputs()));
  for (int run = 0; run < 3; ++run) {
    const std::vector<Tensor> values = inputs();
    CHECK(bit_difference(plan.run(values), program(values)) == "");
  }
  CHECK(plan.statistics().chained_calls == 2);
}

TEST_CASE("what a pointwise call gives lies where its operand lay, unless that is needed in another order") {
  const Program program = [](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    const Tensor product = in[0].mm(in[0]);
    const Tensor square = product.relu().mm(in[0]);
    const Tensor turned = square + square.t();  // every element is read twice
    return {turned.mm(in[0]).exp().sum(0)};
  };
  graph::Plan plan(captured(program, {randn({64, 64})}));
  for (int run = 0; run < 3; ++run) {
    const Tensor x = randn({64, 64});
    CHECK(bit_difference(plan.run({x}), program({x})) == "");
  }
  CHECK(plan.statistics().arena_bytes == 2 * 64 * 64 * sizeof(float));
}

TEST_CASE("a chain of tensors that are longer than the caches gives what its calls give") {
  const Program program = [](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    const Tensor doubled = in[0] * 2;  // leaves, too
    in[1].add_(doubled.exp());
    return {doubled, doubled.sin().add(1).gt(in[0]), in[1]};
  };
  const auto inputs = [] { return std::vector<Tensor>{randn({9 << 20}), randn({9 << 20})}; };
  graph::Plan plan(captured(program, inputs()));
  for (int run = 0; run < 2; ++run) {
    const std::vector<Tensor> values = inputs(), eager = copies_of(values), planned = copies_of(values);
    const std::vector<Tensor> expected = program(eager);
    CHECK(bit_difference(joined(planned, plan.run(planned)), joined(eager, expected)) == "");
  }
  CHECK(plan.statistics().chained_calls > 4);
}
