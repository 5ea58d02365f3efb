// Deferred regions: what their calls give is what the calls give one by one.
#include <keyway/core/dtype/default_dtype.h>
#include <keyway/core/random/thread_seed.h>
#include <keyway/graph/capture.h>
#include <keyway/graph/deferred.h>
#include <keyway/graph/plan.h>
#include <keyway/nn/nn.h>
#include <keyway/tasks/launch.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/error_texts.h>
#include <keyway/tests/graph/random_program.h>

#include <optional>
#include <thread>

using namespace keyway;
using namespace keyway::graph;
using namespace keyway::testing;

namespace {

std::vector<std::uint32_t> versions_of(const std::vector<Tensor>& tensors) {
  std::vector<std::uint32_t> versions;
  for (const Tensor& tensor : tensors) versions.push_back(tensor.defined() ? tensor.impl()->version() : 0);
  return versions;
}

// How many programs ran; each three times, with other elements.
int check_programs(std::uint32_t first, std::uint32_t count, bool with_gradient) {
  int programs = 0;
  for (std::uint32_t seed = first; seed < first + count; ++seed) {
    const RandomProgram program(seed, with_gradient);
    if (!runs(program, random_inputs(seed, with_gradient))) continue;
    ++programs;
    for (std::uint32_t run_number = 0; run_number < 3; ++run_number) {
      const std::vector<Tensor> inputs = random_inputs(seed + 1'000'000 * run_number, with_gradient);
      const std::vector<Tensor> eager = copies_of(inputs), deferred = copies_of(inputs);
      const std::vector<Tensor> expected = joined(eager, program(eager));
      Deferred region;
      const std::vector<Tensor> results = joined(deferred, program(deferred));
      region.finish();
      INFO("seed " << seed << ", run " << run_number << "\n" << region.explain());
      CHECK(bit_difference(results, expected) == "");
      CHECK(versions_of(results) == versions_of(expected));
      if (bit_difference(results, expected) != "") return programs;
    }
  }
  return programs;
}

Tensor small_calls(Tensor x) {
  for (int i = 0; i < 10; ++i) x = (x * 0.5 + 1).tanh();
  return x;
}

struct Mlp {
  nn::Sequential model{nullptr};
  Tensor input, target;
  Mlp() {
    manual_seed(11);
    model = nn::Sequential(nn::Linear(6, 16), nn::ReLU(), nn::Dropout(0.25), nn::Linear(16, 3));
    input = randn({8, 6});
    target = randint(0, 3, {8});
  }
  template <typename Optimizer>
  double step(Optimizer& optimizer) {
    optimizer.zero_grad();
    const Tensor loss = nn::functional::cross_entropy(model->forward(input), target);
    loss.backward();
    optimizer.step();
    return loss.item<double>();
  }
};

template <typename Optimizer, typename Options>
void check_training(const Options& options) {
  const auto train = [&](bool is_deferred) {
    Mlp mlp;
    Optimizer optimizer(mlp.model->parameters(), options);
    std::optional<Deferred> region;
    if (is_deferred) region.emplace();
    std::vector<double> losses;
    for (int step = 0; step < 6; ++step) losses.push_back(mlp.step(optimizer));
    if (region) region->finish();
    std::vector<Tensor> parameters;
    for (const Tensor& parameter : mlp.model->parameters()) {
      parameters.push_back(parameter.detach());
      parameters.push_back(parameter.grad());
    }
    return std::pair(losses, parameters);
  };
  const auto [losses, parameters] = train(false);
  const auto [deferred_losses, deferred_parameters] = train(true);
  CHECK(deferred_losses == losses);
  CHECK(bit_difference(deferred_parameters, parameters) == "");
}

}  // namespace

TEST_CASE("random programs of views and changes in place give the same bits and versions when they are deferred") {
  CHECK(check_programs(0, program_count(), false) > static_cast<int>(program_count() / 2));
}

TEST_CASE("random programs with gradients give the same bits when they are deferred") {
  CHECK(check_programs(7'000'000, program_count(), true) > static_cast<int>(program_count() / 4));
}

TEST_CASE("training steps give the same losses, parameters and gradients when they are deferred") {
  check_training<optim::SGD>(optim::SGDOptions(0.1).momentum(0.9));
  check_training<optim::AdamW>(optim::AdamWOptions(1e-2));
}

TEST_CASE("nothing is computed until a number is read") {
  const Tensor x = full({4}, 2.0);
  Deferred region;
  const Tensor y = small_calls(x);
  CHECK(y.data_ptr() == nullptr);
  CHECK(y.sizes() == IntArrayRef({4}));
  CHECK(region.statistics().flushes == 0);
  CHECK(region.statistics().deferred_calls == 30);
  const double number = y[1].item<double>();
  CHECK(region.statistics().flushes == 1);
  CHECK(region.explain().find("_local_scalar_dense reads elements") != std::string::npos);
  region.finish();
  CHECK(number == small_calls(x)[1].item<double>());
}

TEST_CASE("a graph that comes again is known") {
  Tensor x = randn({5});
  Deferred region;
  for (int i = 0; i < 4; ++i) {
    x = small_calls(x) + 0.375;
    region.flush();
  }
  CHECK(region.statistics().flushes == 4);
  CHECK(region.statistics().known_graphs >= 3);
  region.finish();
}

TEST_CASE("memory that is asked for by its type is there") {
  Deferred region;
  const Tensor x = ones({3}) * 2.0;
  CHECK(x.data_ptr<float>()[2] == 2.0f);
  region.finish();
}

TEST_CASE("memory of a tensor from elsewhere is kept until its calls are made, and no longer") {
  Tensor x = full({1000}, 3.0);
  const weak_intrusive_ptr<StorageImpl> memory(intrusive_ptr<StorageImpl>::retain(x.storage().impl()));
  Deferred region;
  const Tensor y = x + 1;
  x = Tensor();
  CHECK(memory.lock());
  region.flush();
  CHECK_FALSE(memory.lock());
  CHECK(y[999].item<double>() == 4);
  region.finish();
}

TEST_CASE("an error of a deferred call is raised at the flush, and what follows it has no elements") {
  const Tensor table = ones({3, 2});
  Deferred region;
  const Tensor before = table * 2.0;
  const Tensor rows = index_select(table, 0, full({1}, 7, kLong));
  const Tensor after = rows + 1;
  std::string error;
  try {
    region.flush();
  } catch (const Error& caught) {
    error = caught.what();
    CHECK(caught.kind() == ErrorKind::Index);
  }
  CHECK(error.starts_with("index_select: "));
  CHECK(error.find("the call was deferred") != std::string::npos);
  CHECK(error_of([&] { (void)(after + 1); }).find("a tensor has no elements") != std::string::npos);
  CHECK(error_of([&] { (void)(after.data_ptr<float>()); }).find("a tensor has no elements") != std::string::npos);
  region.finish();
  CHECK(error_of([&] { (void)(after + 1); }).find("a tensor has no elements") != std::string::npos);
  CHECK((table + 1)[0][0].item<double>() == 2);
}

TEST_CASE("an error that shapes tell is raised where the call is made") {
  Deferred region;
  const Tensor x = ones({2, 3}) * 2.0;
  const std::string error = error_of([&] { (void)(x + ones({4})); });
  region.finish();
  CHECK(error == error_of([] { (void)(ones({2, 3}) + ones({4})); }));
  CHECK(x[0][0].item<double>() == 2);
}

TEST_CASE("calls are made when an exception leaves the region") {
  const Tensor x = zeros({3});
  Tensor y;
  try {
    Deferred region;
    x.add_(1);
    y = x * 2.0;
    throw std::runtime_error("out");
  } catch (const std::runtime_error&) {
  }
  CHECK(x[0].item<double>() == 1);
  CHECK(y[0].item<double>() == 2);
}

TEST_CASE("a region within another one flushes at its end, and the outer one goes on") {
  Deferred outer;
  const Tensor x = ones({3}) + 1;
  {
    Deferred inner;
    const Tensor y = x * 3.0;
    inner.finish();
    CHECK(y.data_ptr() != nullptr);
  }
  const Tensor z = x * 4.0;
  CHECK(z.data_ptr() == nullptr);
  outer.finish();
  CHECK(z[0].item<double>() == 8);
}

TEST_CASE("another thread that uses a result has its calls made") {
  Deferred region;
  const Tensor x = full({4}, 2.0), y = small_calls(x);
  x.add_(1);
  double number = 0, changed = 0;
  std::thread([&] {
    number = (y + 0).sum().item<double>();
    changed = x[0].item<double>();
  }).join();
  region.finish();
  CHECK(number == small_calls(full({4}, 2.0)).sum().item<double>());
  CHECK(changed == 3);
}

TEST_CASE("random numbers are those of calls made at once, whatever is seeded meanwhile") {
  const auto draw = [] {
    manual_seed(3);
    std::vector<Tensor> drawn = {randn({3}), rand({2})};
    {
      const ThreadSeed aside(5);
      drawn.push_back(randn({2}));
      drawn.push_back(launch([] { return randn({2}); }).wait());  // a task does not draw from this seed
      drawn.push_back(randn({2}));
    }
    drawn.push_back(drawn[0].clone().bernoulli_(0.5));
    manual_seed(4);
    drawn.push_back(randperm(6));
    Generator own;
    own.manual_seed(9);
    drawn.push_back(zeros({4}).normal_(0, 1, own));
    own.manual_seed(10);
    drawn.push_back(zeros({4}).normal_(0, 1, own));
    return drawn;
  };
  const std::vector<Tensor> expected = draw();
  for (int i = 0; i < 3; ++i) {
    Deferred region;
    const std::vector<Tensor> drawn = draw();
    region.finish();
    CHECK(bit_difference(drawn, expected) == "");
  }
}

TEST_CASE("a default dtype that changes within a region is that of each call") {
  Deferred region;
  const Tensor x = ones({2});
  set_default_dtype(kDouble);
  const Tensor y = ones({2});
  set_default_dtype(kFloat);
  region.finish();
  CHECK(x.dtype() == kFloat);
  CHECK(y.dtype() == kDouble);
  CHECK(y[1].item<double>() == 1);
}

TEST_CASE("a program that is captured within a region is a graph of its own") {
  Deferred region;
  const Tensor x = ones({3}) * 2.0;
  Capture capture(Level::Executed);
  capture.add_argument(x);
  Tensor y = x + 1;
  const Graph graph = capture.finish({y});
  CHECK(graph.nodes.size() == 1);
  CHECK(y.data_ptr() != nullptr);
  const Tensor z = y + 1;
  CHECK(z.data_ptr() == nullptr);
  region.finish();
  CHECK(z[0].item<double>() == 4);
}

TEST_CASE("operators of a plan run within a region as calls that are deferred") {
  const Tensor x = ones({3});
  Capture capture(Level::Executed);
  capture.add_argument(x);
  Plan plan(capture.finish({small_calls(x)}));
  const Tensor expected = plan.run({x})[0];
  Deferred region;
  const Tensor y = plan.run({x * 1.0})[0];
  region.finish();
  CHECK(bit_difference({y}, {expected}) == "");
}
