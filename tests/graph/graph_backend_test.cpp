// Graph backends: who is asked for a graph, what becomes of what it declines, and that it can go.
#include <keyway/core/device/device_backend.h>
#include <keyway/core/device/device_guard.h>
#include <keyway/dispatch/call/call_declined.h>
#include <keyway/dispatch/plugin/cpu_fallback.h>
#include <keyway/dispatch/registry/library.h>
#include <keyway/graph/capture.h>
#include <keyway/graph/deferred.h>
#include <keyway/graph/executable.h>
#include <keyway/ops/all.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/error_texts.h>
#include <keyway/tests/in_child.h>

#include <atomic>
#include <cmath>
#include <thread>

using namespace keyway;
using namespace keyway::graph;
using namespace keyway::testing;

namespace {

// A device type with the CPU's memory and kernels.
struct Device2 {
  DeviceType type = register_device_type("graphs");
  DeviceBackendRegistration backend = register_device_backend(type);
  RegistrationHandle kernels = [this] {
    Library library(Library::Kind::Impl, "_", runtime_key(Functionality::Dense, type));
    library.fallback(cpu_fallback);
    return library.commit();
  }();
  Tensor tensor(double value) const { return full({3}, value, TensorOptions().device(Device(type, 0))); }
};

// Runs a graph by its calls, and counts.
struct Counts {
  int compiled = 0, runs = 0, living = 0;
};
class CountingGraph final : public CompiledGraph {
 public:
  CountingGraph(Graph graph, Counts& counts) : graph_(std::move(graph)), counts_(counts) { ++counts_.living; }
  ~CountingGraph() override { --counts_.living; }
  std::vector<Tensor> run(const std::vector<Tensor>& inputs) override {
    ++counts_.runs;
    return graph::run(graph_, inputs);
  }

 private:
  Graph graph_;
  Counts& counts_;
};
class CountingBackend final : public GraphBackend {
 public:
  explicit CountingBackend(Counts& counts) : counts_(counts) {}
  std::unique_ptr<CompiledGraph> compile(const Graph& graph) override {
    if (graph.nodes.size() == 1) throw CallDeclined("it is too small");
    ++counts_.compiled;
    return std::make_unique<CountingGraph>(graph, counts_);
  }

 private:
  Counts& counts_;
};

constexpr auto exp_of_next = [](const Tensor& x) { return (x + 1).exp(); };

template <typename F>
Graph captured_with(const Tensor& x, F&& program) {
  Capture capture(Level::Executed);
  capture.add_argument(x);
  return capture.finish({program(x)});
}

double first(const Tensor& x) { return x[0].item<double>(); }

}  // namespace

TEST_CASE("a backend compiles a graph once, and what it declines runs call by call") {
  const Device2 device;
  Counts counts;
  const GraphBackendRegistration backend =
      register_graph_backend(device.type, std::make_shared<CountingBackend>(counts));
  Executable program(captured_with(device.tensor(0), exp_of_next));
  CHECK(program.how() == "call by call: it has not run yet");
  for (const double value : {0.0, 1.0, 2.0})
    CHECK(first(program.run({device.tensor(value)})[0]) == first(exp_of_next(full({3}, value))));
  CHECK(counts.compiled == 1);
  CHECK(counts.runs == 3);
  CHECK(program.how() == "by the graph backend of graphs");
  Executable small(captured_with(device.tensor(0), [](const Tensor& x) { return x * 2.0; }));
  CHECK(first(small.run({device.tensor(3)})[0]) == 6);
  CHECK(small.how() == "call by call: the graph backend of graphs declined it: it is too small");
}

TEST_CASE("a graph that does not hold for a call is not run by the backend") {
  const Device2 device;
  Counts counts;
  const GraphBackendRegistration backend =
      register_graph_backend(device.type, std::make_shared<CountingBackend>(counts));
  Executable program(captured_with(device.tensor(0), exp_of_next));
  CHECK(error_of([&] {
          (void)program.run({ones({2}, TensorOptions().device(Device(device.type, 0)))});
        }).find("is float32[2]") != std::string::npos);
  CHECK(counts.runs == 0);
}

TEST_CASE("state, changes in place and gradients of leaves are as in the program") {
  const Device2 device;
  Counts counts;
  const GraphBackendRegistration backend =
      register_graph_backend(device.type, std::make_shared<CountingBackend>(counts));
  Tensor weight = device.tensor(2), x = device.tensor(3);
  weight.requires_grad_();
  const auto step = [&](const Tensor& input) {
    (weight * input).sum().backward();
    input.add_(1);
    return input.view({1, 3});
  };
  step(x);  // the gradient is there from then on
  const std::uint32_t version = x.impl()->version();
  Executable program(captured_with(x, step));
  const std::vector<Tensor> results = program.run({x});
  CHECK(program.how() == "by the graph backend of graphs");
  CHECK(first(x) == 6);
  CHECK(results[0].is_alias_of(x));
  CHECK(first(weight.grad()) == 3 + 4 + 5);
  CHECK(x.impl()->version() > version + 1);
}

TEST_CASE("a backend that is withdrawn lets go of what it compiled, and graphs run on without it") {
  const Device2 device;
  Counts counts;
  Executable program(captured_with(device.tensor(0), exp_of_next));
  CHECK(first(program.run({device.tensor(0)})[0]) == std::exp(1.0f));
  CHECK(program.how() == "call by call: no graph backend serves graphs");
  {
    const GraphBackendRegistration backend =
        register_graph_backend(device.type, std::make_shared<CountingBackend>(counts));
    CHECK(error_of([&] {
            (void)register_graph_backend(device.type, std::make_shared<CountingBackend>(counts));
          }).find("the device type has one") != std::string::npos);
    program.run({device.tensor(0)});
    CHECK(program.how() == "by the graph backend of graphs");
    CHECK(counts.living == 1);
  }
  CHECK(counts.living == 0);
  CHECK(first(program.run({device.tensor(0)})[0]) == std::exp(1.0f));
  CHECK(counts.runs == 1);
  CHECK(program.how() == "call by call: no graph backend serves graphs");
}

TEST_CASE("a child that is forked while a backend compiles a graph runs graphs of its own") {
  const Device2 device;
  struct SlowBackend final : GraphBackend {
    std::unique_ptr<CompiledGraph> compile(const Graph&) override {
      begun = true;
      while (!may_end) std::this_thread::yield();
      throw CallDeclined("it took too long");
    }
    std::atomic<bool> begun{false}, may_end{false};
  };
  const auto slow = std::make_shared<SlowBackend>();
  const GraphBackendRegistration backend = register_graph_backend(device.type, slow);
  Executable program(captured_with(device.tensor(0), exp_of_next));
  std::thread runs([&] { program.run({device.tensor(0)}); });
  while (!slow->begun) std::this_thread::yield();
  CHECK(in_child([&] { return program.how() == "call by call: it has not run yet"; }));
  slow->may_end = true;
  runs.join();
  CHECK(program.how() == "call by call: the graph backend of graphs declined it: it took too long");
}

TEST_CASE("outputs that are not the graph's are an error that names the backend") {
  struct WrongGraph final : CompiledGraph {
    std::vector<Tensor> run(const std::vector<Tensor>& inputs) override { return {inputs[0]}; }
  };
  struct WrongBackend final : GraphBackend {
    std::unique_ptr<CompiledGraph> compile(const Graph&) override { return std::make_unique<WrongGraph>(); }
  };
  const Device2 device;
  const GraphBackendRegistration backend = register_graph_backend(device.type, std::make_shared<WrongBackend>());
  Executable same_memory(captured_with(device.tensor(0), exp_of_next));
  CHECK(error_of([&] {
          (void)same_memory.run({device.tensor(0)});
        }).find("output 0 of the graph backend of graphs shares memory with input 0") != std::string::npos);
  Executable other_sizes(captured_with(device.tensor(0), [](const Tensor& x) { return x.exp().sum(); }));
  CHECK(error_of([&] { (void)other_sizes.run({device.tensor(0)}); }).find("but the graph has float32[]") !=
        std::string::npos);
}

TEST_CASE("there are no graph backends of the CPU, and none that is null") {
  CHECK(error_of([&] { (void)register_graph_backend(DeviceType::CPU, nullptr); }).find("it is null") !=
        std::string::npos);
  Counts counts;
  CHECK(error_of([&] {
          (void)register_graph_backend(DeviceType::CPU, std::make_shared<CountingBackend>(counts));
        }).find("are plans") != std::string::npos);
}

TEST_CASE("graphs of deferred calls go to the backend of their device when they come again") {
  const Device2 device;
  Counts counts;
  const GraphBackendRegistration backend =
      register_graph_backend(device.type, std::make_shared<CountingBackend>(counts));
  for (const double value : {0.0, 1.0, 2.0}) {
    const Tensor x = device.tensor(value);
    Deferred region;
    const Tensor y = exp_of_next(x * 1.25);
    region.finish();
    CHECK(first(y) == first(exp_of_next(full({3}, value) * 1.25)));
  }
  CHECK(counts.compiled == 1);
  CHECK(counts.runs == 2);
}
