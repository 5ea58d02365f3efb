// Plans whose parts run beside each other: the same bits, errors and effects as one call after the other.
#include <keyway/autograd/engine.h>
#include <keyway/autograd/variable.h>
#include <keyway/core/device/device_guard.h>
#include <keyway/graph/control_flow.h>
#include <keyway/graph/deferred.h>
#include <keyway/graph/forced_sections.h>
#include <keyway/graph/plan.h>
#include <keyway/ops/all.h>
#include <keyway/ops/tensor_literal.h>
#include <keyway/tasks/launch.h>
#include <keyway/tests/backends/cpu/settings.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/core/fake_device.h>
#include <keyway/tests/graph/replayed.h>
#include <keyway/tests/in_child.h>

#include <atomic>
#include <thread>

using namespace keyway;
using namespace keyway::graph;
using namespace keyway::testing;

namespace {

using Tensors = std::vector<Tensor>;

// Runs a program as a plan whose parts are forced beside each other, and checks each run. Gives the plan's numbers.
Plan::Statistics check_parts(const Program& program, const std::function<Tensors()>& inputs, int runs = 5) {
  const ForcedSections forced;
  manual_seed(3);
  Plan plan(captured(program, copies_of(inputs())));
  for (int run = 0; run < runs; ++run) {
    const Tensors values = inputs(), eager = copies_of(values), planned = copies_of(values);
    manual_seed(run);
    const Tensors expected = joined(eager, program(eager));
    const Tensor next = rand({4});
    manual_seed(run);
    const Tensors results = joined(planned, plan.run(planned));
    CHECK(bit_difference(results, expected) == "");
    CHECK(bit_difference({rand({4})}, {next}) == "");
  }
  return plan.statistics();
}

Tensor tower(const Tensor& x, int levels, double factor) {
  Tensor y = x * factor;
  for (int i = 0; i < levels; ++i) y = (y.mm(x) * 0.125).tanh();
  return y;
}

// Empty if nothing is thrown.
template <typename Call>
std::string text_of_error(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

Tensors one_matrix() { return {randn({16, 16})}; }

}  // namespace

TEST_CASE("towers run beside each other") {
  const auto statistics = check_parts(
      [](const Tensors& in) -> Tensors {
        return {cat({tower(in[0], 4, 1), tower(in[0], 4, 2), tower(in[0], 3, 3)}), tower(in[0], 2, 4)};
      },
      one_matrix);
  CHECK(statistics.parallel_parts >= 3);
  CHECK(statistics.parallel_calls > 20);
}

TEST_CASE("views that are written in one part are read after that in another") {
  const auto statistics = check_parts(
      [](const Tensors& in) -> Tensors {
        const Tensor a = in[0].mm(in[0]), b = in[0].mm(in[0].t());
        a.select(0, 1).add_(1);
        const Tensor from_a = b + a.t(), beside = b.exp();
        b.narrow(0, 2, 4).mul_(a.narrow(0, 2, 4));
        a.copy_(beside.mm(in[0]));
        return {from_a.mm(a), b.sum(0), beside, a.diagonal().clone()};
      },
      one_matrix);
  CHECK(statistics.parallel_parts >= 2);
}

TEST_CASE("what is written for the program to see is written in its turn") {
  check_parts(
      [](const Tensors& in) -> Tensors {
        const Tensor left = tower(in[0], 3, 1), right = tower(in[0], 3, 2);
        in[1].add_(left);
        const Tensor after = tower(in[1], 2, 1), beside = tower(in[0], 2, 3);
        in[0].mul_(0.5);
        return {right, after, beside + in[0]};
      },
      [] {
        return Tensors{randn({16, 16}), randn({16, 16})};
      });
}

TEST_CASE("random numbers are drawn in the order of the program") {
  const auto statistics = check_parts(
      [](const Tensors& in) -> Tensors {
        const Tensor left = dropout(tower(in[0], 2, 1), 0.5, true), right = dropout(tower(in[0], 2, 2), 0.5, true);
        return {tower(left, 2, 1), tower(right, 2, 1), rand({3})};
      },
      one_matrix);
  CHECK(statistics.parallel_parts >= 2);
}

TEST_CASE("what lies where its operand lay waits for all who read that") {
  check_parts(
      [](const Tensors& in) -> Tensors {
        const Tensor shared = in[0].mm(in[0]), other = in[0].mm(in[0].t());
        const Tensor slow = tower(in[0], 3, 1).mm(shared).mm(shared);  // reads it late
        const Tensor heir = (shared * 2).mm(other);                    // may write where it lay
        const Tensor further = (other + 1).exp().mm(in[0]);
        return {slow.sum(), heir.sum(0), further.sum(1)};
      },
      one_matrix, 50);
}

TEST_CASE("a call of a chain does not write where another one reads another block") {
  for (const bool is_forced : {false, true}) {
    std::optional<ForcedSections> forced;
    if (is_forced) forced.emplace();
    const Program program = [](const Tensors& in) -> Tensors {
      const Tensor product = in[0].mm(in[0]);
      const Tensor by_row = in[0] + product.select(0, 0);  // each block reads the first row
      return {(by_row * product).mm(in[0])};
    };
    Plan plan(captured(program, {randn({256, 256})}));
    for (int run = 0; run < 3; ++run) {
      const Tensor x = randn({256, 256});
      CHECK(bit_difference(plan.run({x}), program({x})) == "");
    }
    CHECK(plan.statistics().chained_calls == 2);
  }
}

TEST_CASE("a step of training gives the same, with its gradients in parts") {
  const Tensor first = randn({16, 16}), second = randn({16, 16});
  const auto statistics = check_parts(
      [](const Tensors& in) -> Tensors {
        const Tensors leaves = {in[1].detach().requires_grad_(), in[2].detach().requires_grad_()};
        const Tensor loss = in[0].mm(leaves[0]).tanh().mm(leaves[1]).square().mean();
        const Tensors grads = autograd::grad({loss}, leaves);
        in[1].sub_(grads[0] * 0.1);
        in[2].sub_(grads[1] * 0.1);
        return {loss.detach()};
      },
      [&] {
        return Tensors{randn({16, 16}), first, second};
      });
  CHECK(statistics.parallel_parts >= 2);
}

TEST_CASE("the error is that of the first call that fails, and what comes after it is not written") {
  const Program program = [](const Tensors& in) -> Tensors {
    const Tensor left = tower(in[0], 3, 1).index_select(0, in[1]);
    const Tensor right = tower(in[0], 1, 2).index_select(1, in[2]);
    in[3].add_(1);
    return {left, right};
  };
  const auto at = [](std::int64_t position) { return tensor(std::vector<std::int64_t>{position}); };
  const auto arguments = [&](std::int64_t left, std::int64_t right) {
    return Tensors{randn({16, 16}), at(left), at(right), zeros({2})};
  };
  for (const bool is_forced : {false, true}) {
    std::optional<ForcedSections> forced;
    if (is_forced) forced.emplace();
    Plan plan(captured(program, arguments(0, 0)));
    plan.run(arguments(0, 0));
    for (int round = 0; round < 30; ++round) {
      const std::int64_t left = round % 2 == 0 ? 1 : 77, right = round % 3 == 0 ? 2 : 88;
      const Tensors given = arguments(left, right), eager = copies_of(given);
      const std::string expected = text_of_error([&] { program(eager); });
      CHECK(text_of_error([&] { plan.run(given); }) == expected);
      CHECK(bit_difference(given, eager) == "");
    }
  }
}

TEST_CASE("calls by the dispatcher and calls that take graphs run in their turn") {
  const auto statistics = check_parts(
      [](const Tensors& in) -> Tensors {
        const Tensor left = tower(in[0], 2, 1), right = tower(in[0], 2, 2);
        const auto branch = [](bool negates) {
          return [negates](const Tensors& x) -> Tensors { return {negates ? x[0].neg() : tower(x[0], 2, 2)}; };
        };
        const Tensor chosen = graph::cond(in[0].sum() > 0, branch(true), branch(false), {left})[0];
        return {chosen.mm(right), tower(right, 2, 1).sum()};
      },
      one_matrix);
  CHECK(statistics.other_calls > 0);
}

TEST_CASE("plans with parts run in several threads, in tasks and within loops") {
  const Program program = [](const Tensors& in) -> Tensors {
    return {cat({tower(in[0], 3, 1), tower(in[0], 3, 2), tower(in[0], 3, 3)})};
  };
  const ForcedSections forced;
  Plan plan(captured(program, one_matrix()));
  std::atomic<int> wrong{0};
  const auto run_some = [&](std::uint64_t seed) {
    const Tensor x = full({16, 16}, 0.01 * static_cast<double>(seed + 1));
    const Tensors expected = program({x});
    for (int i = 0; i < 40; ++i) wrong += !bit_difference(plan.run({x}), expected).empty();
  };
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < 4; ++i) threads.emplace_back(run_some, i);
  std::vector<Future<void>> tasks;
  for (std::uint64_t i = 4; i < 8; ++i) tasks.push_back(launch([&run_some, i] { run_some(i); }));
  for (std::thread& thread : threads) thread.join();
  for (const Future<void>& task : tasks) task.wait();
  const WithThreads two(2);
  parallel_for(0, 8, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) run_some(static_cast<std::uint64_t>(i));
  });
  CHECK(wrong == 0);
}

TEST_CASE("a forked child runs the parts of its parent's plan") {
  const Program program = [](const Tensors& in) -> Tensors {
    return {tower(in[0], 3, 1) + tower(in[0], 3, 2), tower(in[0], 3, 3)};
  };
  const ForcedSections forced;
  Plan plan(captured(program, one_matrix()));
  const Tensor x = randn({16, 16});
  const Tensors expected = plan.run({x});
  plan.run({x});
  CHECK(in_child([&] { return bit_difference(plan.run({x}), expected).empty(); }));
}

TEST_CASE("deferred calls run in parts") {
  const ForcedSections forced;
  const Tensor x = randn({16, 16});
  const Tensors expected = {tower(x, 3, 1), tower(x, 3, 2)};
  for (int round = 0; round < 4; ++round) {
    Deferred region;
    const Tensors results = {tower(x, 3, 1), tower(x, 3, 2)};
    CHECK(results[0].sum().item().to<float>() == expected[0].sum().item().to<float>());
    CHECK(bit_difference(results, expected) == "");
  }
}

TEST_CASE("a device that fails is nothing to parts of a plan of the CPU") {
  FakeDevices fake;
  const DeviceGuardRegistration registration = register_device_guard(fake);
  const DeviceGuard guard(fake.device(1));
  const ForcedSections forced;
  const Program program = [](const Tensors& in) -> Tensors {
    return {tower(in[0], 20, 1), tower(in[0], 20, 2), tower(in[0], 20, 3)};
  };
  Plan plan(captured(program, one_matrix()));
  const Tensor x = randn({16, 16});
  const Tensors expected = program({x});
  for (int run = 0; run < 50; ++run) {
    fake.fail_next();
    CHECK(bit_difference(plan.run({x}), expected) == "");
  }
  CHECK(plan.statistics().parallel_parts >= 2);
  CHECK_THROWS_AS(fake.set_device(fake.device(1)), Error);  // nobody has asked the device meanwhile
}

TEST_CASE("a forked child runs plans and deferred calls, whatever other threads do with theirs") {
  const ForcedSections forced;
  const auto program = [](const Tensors& in) -> Tensors { return {tower(in[0], 2, 1), tower(in[0], 2, 2)}; };
  Plan plan(captured(program, one_matrix()));
  const Tensor x = randn({16, 16});
  const Tensors expected = program({x});
  const auto works = [&] {
    Deferred region;
    const Tensors deferred = program({x});
    region.finish();
    return bit_difference(deferred, expected).empty() && bit_difference(plan.run({x}), expected).empty();
  };
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) works();
  });
  for (int round = 0; round < 30; ++round) CHECK(in_child(works));
  stop = true;
  busy.join();
}

TEST_CASE("what a plan has learned stays when the number of threads changes") {
  const int before = get_num_interop_threads();
  set_num_interop_threads(4);
  const Program program = [](const Tensors& in) -> Tensors { return {tower(in[0], 6, 1), tower(in[0], 6, 2)}; };
  Plan plan(captured(program, {randn({128, 128})}));
  const Tensor x = randn({128, 128});
  const Tensors expected = program({x});
  for (int run = 0; run < 40; ++run) {
    const WithThreads with(run % 2 == 0 ? 1 : 2);
    CHECK(bit_difference(plan.run({x}), expected) == "");
    if (run % 2 == 0) CHECK(plan.statistics().parallel_parts == 0);
  }
  CHECK(plan.statistics().learned_runs == 1);
  const std::size_t parts = plan.statistics().parallel_parts;
  for (const int threads : {3, 1, 2}) {
    const WithThreads with(threads);
    plan.run({x});
  }
  CHECK(plan.statistics().parallel_parts == parts);
  set_num_interop_threads(before);
}

TEST_CASE("a plan learns its parts from runs, and others for other numbers of threads") {
  const Program program = [](const Tensors& in) -> Tensors {
    return {tower(in[0], 6, 1), tower(in[0], 6, 2), in[0].sum()};
  };
  const int before = get_num_interop_threads();
  Plan plan(captured(program, {randn({128, 128})}));
  for (const int threads : {2, 1, 3, 2}) {
    const WithThreads with(threads);
    set_num_interop_threads(threads);
    for (int run = 0; run < 16; ++run) {
      const Tensor x = randn({128, 128});
      CHECK(bit_difference(plan.run({x}), program({x})) == "");
    }
    if (threads == 1) CHECK(plan.statistics().parallel_parts == 0);
  }
  set_num_interop_threads(before);
}
