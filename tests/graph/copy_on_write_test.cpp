// Programs that write without a dispatcher, to tensors whose bytes are shared until they are written to.
#include <keyway/core/tensor/copy_on_write.h>
#include <keyway/graph/deferred.h>
#include <keyway/graph/executable.h>
#include <keyway/graph/plan.h>
#include <keyway/ops/all.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/graph/replayed.h>

using namespace keyway;
using namespace keyway::testing;

namespace {

constexpr std::int64_t kCount = 10'000;  // too many bytes for a storage's own block

Tensor numbers() { return arange(kCount, kFloat); }

}  // namespace

TEST_CASE("a plan writes to its input, and not to what shares the input's bytes") {
  const Program program = [](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    const Tensor half = in[0].slice(0, 0, kCount / 2);
    half.add_(1);
    return {in[0] * 2, half};
  };
  graph::Plan plan(captured(program, {numbers()}));
  for (int run = 0; run < 3; ++run) {
    const Tensor x = numbers(), shared = x._lazy_clone(), expected = numbers();
    const std::vector<Tensor> wanted = program({expected});
    const std::vector<Tensor> results = plan.run({x});
    CHECK(bit_difference(results, wanted) == "");
    CHECK(bit_difference({x, shared}, {expected, numbers()}) == "");
    results[1].add_(1);  // a view of x
    CHECK(x[0].item<float>() == 2);
    CHECK(shared[0].item<float>() == 0);
    // The clone is as good an input as its original.
    const Tensor again = shared._lazy_clone();
    CHECK(bit_difference(plan.run({shared}), wanted) == "");
    CHECK(bit_difference({again}, {numbers()}) == "");
  }
  CHECK(plan.statistics().other_calls == 0);
}

TEST_CASE("a plan reads bytes that are shared where they are") {
  const Program program = [](const std::vector<Tensor>& in) -> std::vector<Tensor> { return {in[0].neg(), in[0][3]}; };
  graph::Plan plan(captured(program, {numbers()}));
  const Tensor x = numbers(), shared = x._lazy_clone();
  for (int run = 0; run < 3; ++run) {
    const std::vector<Tensor> results = plan.run({shared});
    CHECK(shared.storage().is_shared());
    CHECK(shared.const_data_ptr() == x.const_data_ptr());
    CHECK(bit_difference(results, program({numbers()})) == "");
  }
  const Tensor view = plan.run({shared})[1];
  view.fill_(-1);
  CHECK((shared[3].item<float>() == -1 && x[3].item<float>() == 3));
}

TEST_CASE("a plan calls kernels directly though its first run reads bytes that are shared") {
  const Program program = [](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    const Tensor y = in[0] * 2;
    y.add_(in[1]);
    return {y, in[1].clone(), in[1].to(kDouble)};
  };
  graph::Plan plan(captured(program, {numbers(), numbers()}));
  const Tensor x = numbers(), shared = x._lazy_clone();
  CHECK(bit_difference(plan.run({numbers(), shared}), {numbers() * 3, numbers(), numbers().to(kDouble)}) == "");
  CHECK(plan.statistics().other_calls == 0);
  CHECK(shared.const_data_ptr() == x.const_data_ptr());
}

TEST_CASE("lazy clones within a program are its own, however it runs") {
  const Program program = [](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    const Tensor y = in[0]._lazy_clone(), z = in[0].neg(), w = z._lazy_clone();
    in[0].add_(1);
    y.mul_(2);
    z.sub_(3);
    const Tensor v = w._lazy_clone();
    w.add_(5);
    return {y, z, w, v, in[0]};
  };
  const Tensor given = numbers();
  const std::vector<Tensor> expected = program({given});
  const std::vector<Tensor> by_hand = {numbers() * 2, numbers().neg() - 3, numbers().neg() + 5, numbers().neg(),
                                       numbers() + 1};
  CHECK(bit_difference(expected, by_hand) == "");
  for (const graph::Level level : {graph::Level::Program, graph::Level::Executed}) {
    graph::Executable runs(captured(program, {numbers()}, level));
    INFO(runs.how());
    for (int run = 0; run < 3; ++run) {
      const Tensor x = numbers(), other = x._lazy_clone();
      const std::vector<Tensor> results = runs.run({x});
      CHECK(bit_difference(results, by_hand) == "");
      for (std::size_t i = 0; i < 4; ++i) results[i].fill_(static_cast<float>(i));
      for (std::size_t i = 0; i < 4; ++i) CHECK(results[i].sum().item<float>() == static_cast<float>(i) * kCount);
      CHECK(bit_difference({x, other}, {numbers() + 1, numbers()}) == "");
    }
  }
}

TEST_CASE("deferred calls write to bytes of their own") {
  const Tensor x = numbers(), y = x._lazy_clone();
  graph::Deferred region;
  y.add_(1);
  const Tensor z = y._lazy_clone(), w = (z * 2)._lazy_clone();
  z.neg_();
  const Tensor read = x + 0;
  region.flush();
  w.add_(1);
  region.finish();
  CHECK(bit_difference({x, y, z, w, read},
                       {numbers(), numbers() + 1, (numbers() + 1).neg(), (numbers() + 1) * 2 + 1, numbers()}) == "");
  const Tensor clone = w._lazy_clone();
  w.zero_();
  CHECK(bit_difference({clone}, {(numbers() + 1) * 2 + 1}) == "");
}

TEST_CASE("deferred calls read what shares bytes while they write to something else") {
  const Tensor x = numbers(), y = x._lazy_clone(), w = zeros({kCount});
  for (int round = 1; round <= 3; ++round) {  // from the second on the graph is known
    graph::Deferred region;
    w.add_(1);
    const Tensor z = x + y;
    region.finish();
    CHECK(bit_difference({w, z}, {full({kCount}, static_cast<double>(round)), numbers() * 2}) == "");
  }
  CHECK(x.const_data_ptr() == y.const_data_ptr());
}
