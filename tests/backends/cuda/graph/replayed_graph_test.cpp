// Graphs of CUDA tensors as CUDA graphs: replays do what the calls do, with all effects, and what cannot be replayed
// runs call by call and says why. What is compared with are the calls, made one after the other.
#include <keyway/autograd/variable.h>
#include <keyway/core/device/cuda_graph.h>
#include <keyway/core/tensor/device_allocator.h>
#include <keyway/dispatch/plugin/plugin.h>
#include <keyway/graph/control_flow.h>
#include <keyway/nn/optim/adam.h>
#include <keyway/tests/backends/cuda/graph/graph_runs.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/error_texts.h>

#include <memory>
#include <optional>
#include <thread>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif

using namespace keyway;
using namespace keyway::testing;

KEYWAY_SCHEMA("replayed_graph_test::twice(Tensor self) -> Tensor");
KEYWAY_LIBRARY(replayed_graph_test, m) { m.def<"replayed_graph_test::twice">(); }
KEYWAY_LIBRARY_IMPL(replayed_graph_test, CUDA, m) {
  m.impl<"replayed_graph_test::twice">([](const Tensor& self) { return self * 2; });
}

namespace {

const TensorOptions kThere = TensorOptions().device(kCUDA);

std::vector<Tensor> waves(const std::vector<Tensor>& in) {
  const Tensor scaled = in[0] * 2 + in[1], wave = scaled.sin();
  return {wave * scaled.tanh(), (wave + 1).sum({0})};
}

// What a plug-in keeps for good (which functors there are, NVRTC, kernels) nobody knows of once its library is
// unloaded. As long as this lives, what the thread takes is no leak.
class LeaksAreMeant {
 public:
#if defined(__SANITIZE_ADDRESS__)
  LeaksAreMeant() { __lsan_disable(); }
  ~LeaksAreMeant() { __lsan_enable(); }
#else
  LeaksAreMeant() {}
#endif
  LeaksAreMeant(const LeaksAreMeant&) = delete;
  LeaksAreMeant& operator=(const LeaksAreMeant&) = delete;
};

// Programs run on a device that gives no more memory than it has given, until this goes.
class NoMoreMemory {
 public:
  NoMoreMemory() {
    const auto held = static_cast<double>(memory_stats(kCUDA).reserved.current);
    set_per_process_memory_fraction(held / static_cast<double>(get_memory_info(kCUDA).total), kCUDA);
  }
  ~NoMoreMemory() { set_per_process_memory_fraction(1, kCUDA); }
};

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
const TensorOptions kBytes = kThere.dtype(kByte);

bool is_replayed(const graph::Executable& program) {
  return program.how().starts_with("by the graph backend of cuda, as a CUDA graph of ");
}
std::string why_not(const Program& program, const std::vector<Tensor>& arguments) {
  graph::Executable executable(captured(program, arguments));
  executable.run(arguments);
  return executable.how();
}

}  // namespace

TEST_CASE("the library of CUDA graphs is loaded, and goes") {
  if (!has_graphs()) return;
  const std::vector<Tensor> in{numbers({3, 4}, 1), numbers({4}, 2)};
  graph::Executable program(captured(waves, in));
  std::optional<LeaksAreMeant> meant(std::in_place);
  LoadedPlugin plugin;
  try {
    plugin = load_plugin(KEYWAY_CUDA_GRAPH_LIBRARY);
  } catch (const Error& error) {
    // Another test of this process has had it loaded for good.
    CHECK(std::string(error.message()).find("already") != std::string::npos);
    return;
  }
  CHECK(plugin.name() == "cuda_graph");
  for (int i = 0; i < 3; ++i) CHECK(are_same(program.run(in), waves(in)));
  CHECK(program.how().starts_with("by the graph backend of cuda, as a CUDA graph of 7 calls"));
  plugin.unload();
  meant.reset();
  // The one beside libkeyway.so is loaded then.
  for (int i = 0; i < 3; ++i) CHECK(are_same(program.run(in), waves(in)));
  CHECK(is_replayed(program));
}

TEST_CASE("replays give what calls give, in new memory, for arguments that lie where they did and for others") {
  if (!has_graphs()) return;
  std::vector<Tensor> in{numbers({3, 4}, 1), numbers({4}, 2)};
  graph::Executable program(captured(waves, in));
  CHECK(program.how() == "call by call: it has not run yet");
  CHECK(are_same(program.run(in), waves(in)));
  CHECK(program.how() == "by the graph backend of cuda, as a CUDA graph, which its second run captures");
  std::vector<std::vector<Tensor>> given, expected;
  for (std::int64_t seed = 3; seed < 9; ++seed) {
    if (seed < 5) {
      in[0].copy_(numbers({3, 4}, seed));  // where it was
    } else {
      in[0] = numbers({3, 4}, seed);
    }
    given.push_back(program.run(in));
    expected.push_back(waves(in));
    CHECK(is_replayed(program));
  }
  for (std::size_t i = 0; i < given.size(); ++i) CHECK(are_same(given[i], expected[i]));
}

TEST_CASE("what a graph writes to is written to: arguments that move, arguments that stay, and state") {
  if (!has_graphs()) return;
  Tensor state = numbers({4}, 7), state_of_calls = state.clone();
  const auto with = [](Tensor& sum) {
    return [&sum](const std::vector<Tensor>& in) {
      Tensor x = in[0], y = in[1];
      x.select(0, 1).add_(y);
      sum.mul_(0.5).add_(x.sum({0}));
      y.mul_(2);
      return std::vector<Tensor>{x.t(), sum.clone(), x.view({12}), y};
    };
  };
  const Program step = with(state), step_of_calls = with(state_of_calls);
  Tensor y = numbers({4}, 2), y_of_calls = y.clone();
  Tensor x = numbers({3, 4}, 1);
  graph::Executable program(captured(step, {x.clone(), y}));
  step_of_calls({x.clone(), y_of_calls});
  for (std::int64_t seed = 1; seed < 7; ++seed) {
    x = numbers({3, 4}, seed);
    const Tensor x_of_calls = x.clone();
    const std::uint32_t version = x._version();
    const std::vector<Tensor> given = program.run({x, y}), expected = step_of_calls({x_of_calls, y_of_calls});
    CHECK(are_same(given, expected));
    CHECK(are_same({x, y, state}, {x_of_calls, y_of_calls, state_of_calls}));
    CHECK(x._version() > version);
    CHECK((given[0].is_alias_of(x) && given[2].is_alias_of(x) && given[3].is_same(y)));
  }
  CHECK(is_replayed(program));
}

TEST_CASE("results that share memory share it, and an input may be a result") {
  if (!has_graphs()) return;
  const Program halves = [](const std::vector<Tensor>& in) {
    const Tensor all = (in[0] * 2).exp().add(1);
    return std::vector<Tensor>{all.narrow(0, 0, 2), all.narrow(0, 2, 1), in[0], all.narrow(0, 0, 2)};
  };
  const std::vector<Tensor> in{numbers({3, 4}, 1)};
  graph::Executable program(captured(halves, in));
  for (int i = 0; i < 3; ++i) {
    const std::vector<Tensor> given = program.run(in);
    CHECK(are_same(given, halves(in)));
    CHECK(given[0].is_alias_of(given[1]));
    CHECK(given[1].storage_offset() == 8);
    CHECK(given[2].is_same(in[0]));
  }
  CHECK(is_replayed(program));
}

TEST_CASE("inputs that share memory are used where they lie, and give up when they keep moving") {
  if (!has_graphs()) return;
  const Program add_rows = [](const std::vector<Tensor>& in) {
    Tensor first = in[0];
    first.mul_(2);
    return std::vector<Tensor>{(in[1] + 1).exp().sin()};
  };
  const auto arguments = [](std::int64_t seed) {
    const Tensor both = numbers({2, 4}, seed);
    return std::vector<Tensor>{both.select(0, 0), both.view({8})};
  };
  std::vector<std::vector<Tensor>> all;
  for (std::int64_t seed = 0; seed < 12; ++seed) all.push_back(arguments(seed));
  graph::Executable program(captured(add_rows, arguments(20)));
  for (const std::vector<Tensor>& in : all) {
    const Tensor same = in[1].clone();
    const std::vector<Tensor> given = program.run(in);
    CHECK(are_same(given, add_rows({same.view({2, 4}).select(0, 0), same})));
    CHECK(are_same({in[1]}, {same}));
  }
  CHECK(program.how().find("call by call, since a CUDA graph cannot be captured: input 0 lies in other memory in each "
                           "run, and cannot be copied") != std::string::npos);
}

TEST_CASE("replays draw the numbers that calls would draw") {
  if (!has_graphs()) return;
  const Program draw = [](const std::vector<Tensor>& in) {
    const Tensor noise = empty({3, 4}, kThere).normal_();
    return std::vector<Tensor>{(in[0] + noise) * 2, noise.mul(in[0]).sin()};
  };
  const std::vector<Tensor> in{numbers({3, 4}, 1)};
  graph::Executable program(captured(draw, in));
  for (const std::uint64_t seed : {1, 2}) {
    std::vector<std::vector<Tensor>> expected;
    manual_seed(seed);
    for (int i = 0; i < 4; ++i) expected.push_back(draw(in));
    manual_seed(seed);
    for (int i = 0; i < 4; ++i) CHECK(are_same(program.run(in), expected[static_cast<std::size_t>(i)]));
  }
  CHECK(is_replayed(program));
  const Generator own(Device("cuda:0"));
  const Program draw_own = [&](const std::vector<Tensor>& of) {
    const Tensor noise = empty({3, 4}, kThere).normal_(0, 1, own);
    return std::vector<Tensor>{((of[0] + noise) * 2).sin()};
  };
  graph::Executable not_default(captured(draw_own, in));
  for (int i = 0; i < 3; ++i) not_default.run(in);
  CHECK(not_default.how().find("call by call, since a CUDA graph cannot be captured") != std::string::npos);
  CHECK(not_default.how().find("replays draw from the default generator") != std::string::npos);
}

TEST_CASE("leaves keep the gradients that a replay gives") {
  if (!has_graphs()) return;
  const auto with = [](const Tensor& weight) {
    return [weight](const std::vector<Tensor>& in) {
      autograd::set_grad(weight, {});
      (weight * in[0]).mul(in[0]).sum().backward();
      return std::vector<Tensor>{};
    };
  };
  const Tensor weight = numbers({4}, 1).requires_grad_(), same = numbers({4}, 1).requires_grad_();
  graph::Executable program(captured(with(weight), {numbers({4}, 2)}));
  for (std::int64_t seed = 0; seed < 5; ++seed) {
    const std::vector<Tensor> in{numbers({4}, seed)};
    program.run(in);
    with(same)(in);
    CHECK(are_same({weight.grad()}, {same.grad()}));
  }
  CHECK(is_replayed(program));
}

TEST_CASE("a training step that is replayed trains as calls do: losses, gradients, numbers drawn, parameters") {
  if (!has_graphs() || !has_products()) return;
  struct Model {
    std::vector<Tensor> parameters;
    std::unique_ptr<optim::AdamW> optimizer;
    Model() {
      for (const Sizes& sizes : {Sizes{8, 5}, {8}, {3, 8}}) parameters.push_back(numbers(sizes, 5).requires_grad_());
      optimizer = std::make_unique<optim::AdamW>(parameters, optim::AdamWOptions(0.05).fused(true));
    }
    std::vector<Tensor> step(const std::vector<Tensor>& in) {
      optimizer->zero_grad();
      const Tensor hidden = dropout(linear(in[0], parameters[0], parameters[1]).relu(), 0.3, true);
      const Tensor loss = linear(hidden, parameters[2]).square().mean();
      loss.backward();
      optimizer->step();
      return {loss.detach()};
    }
  };
  Model by_calls, by_graph;
  std::vector<Tensor> losses;
  manual_seed(3);
  for (std::int64_t i = 0; i < 6; ++i) losses.push_back(by_calls.step({numbers({4, 5}, i)})[0]);
  const GeneratorState end = default_generator(Device("cuda:0")).get_state();
  manual_seed(3);
  CHECK(are_same(by_graph.step({numbers({4, 5}, 0)}), {losses[0]}));
  std::optional<graph::Executable> program;
  for (std::int64_t i = 1; i < 6; ++i) {
    const std::vector<Tensor> in{numbers({4, 5}, i)};
    if (i == 1) {
      graph::Capture capture(graph::Level::Executed);
      capture.add_argument(in[0]);
      const std::vector<Tensor> loss = by_graph.step(in);
      program.emplace(capture.finish(loss));
      CHECK(are_same(loss, {losses[1]}));
    } else {
      CHECK(are_same(program->run(in), {losses[static_cast<std::size_t>(i)]}));
    }
  }
  INFO(program->how());
  CHECK(is_replayed(*program));
  CHECK(default_generator(Device("cuda:0")).get_state() == end);
  for (std::size_t i = 0; i < by_calls.parameters.size(); ++i) {
    CHECK(are_same({by_graph.parameters[i]}, {by_calls.parameters[i]}));
    CHECK(are_same({by_graph.parameters[i].grad()}, {by_calls.parameters[i].grad()}));
  }
}

TEST_CASE("a graph that a replay would not do justice to is declined, and says why") {
  if (!has_graphs()) return;
  const Tensor x = numbers({3}, 1), here = ones({});
  CHECK(why_not([](const auto& in) { return std::vector<Tensor>{in[0] * 2}; }, {x}) ==
        "call by call: the graph backend of cuda declined it: a replay takes a launch and 1 copies of results, and the "
        "graph has 1 calls");
  const Program with_host = [](const auto& in) { return std::vector<Tensor>{((in[0] * 2).exp() * in[1]).sin()}; };
  CHECK(why_not(with_host, {x, here}).find("mul.Tensor has a tensor on the CPU, which a replay does not read") !=
        std::string::npos);
  const Program choice = [](const auto& in) {
    const auto twice = [](const std::vector<Tensor>& of) { return std::vector<Tensor>{of[0] * 2}; };
    const auto half = [](const std::vector<Tensor>& of) { return std::vector<Tensor>{of[0] * 0.5}; };
    return graph::cond(in[0].sum().gt(in[0].sum()), twice, half, {in[0]});
  };
  CHECK(why_not(choice, {x}).find("which graph cond runs is decided on the host") != std::string::npos);
  const Program own = [](const auto& in) {
    Stack stack{IValue(TensorBase((in[0] * 2).exp()))};
    call_boxed(Dispatcher::singleton().op("replayed_graph_test::twice").entry(), stack);
    return std::vector<Tensor>{Tensor(stack[0].to_tensor()).sin()};
  };
  CHECK(why_not(own, {x}).find("replayed_graph_test::twice has no kernel of Keyway's own") != std::string::npos);
}

TEST_CASE("calls that a CUDA graph cannot have are made one by one, and an error stays theirs") {
  if (!has_graphs()) return;
  const Program decompose = [](const auto& in) {
    const Tensor square = in[0].matmul(in[0].t()) + eye(3, kThere);
    return std::vector<Tensor>{std::get<0>(linalg_cholesky_ex(square)) * 2};
  };
  if (!has_products()) return;
  const std::vector<Tensor> in{numbers({3, 3}, 1)};
  graph::Executable program(captured(decompose, in));
  for (int i = 0; i < 3; ++i) CHECK(are_same(program.run(in), decompose(in)));
  INFO(program.how());
  CHECK(
      program.how().starts_with("by the graph backend of cuda, call by call, since a CUDA graph cannot be captured: "));
}

TEST_CASE("threads that run one graph at once get the results of their own inputs") {
  if (!has_graphs()) return;
  const std::vector<Tensor> first{numbers({3, 4}, 1), numbers({4}, 2)};
  graph::Executable program(captured(waves, first));
  program.run(first);
  program.run(first);
  constexpr std::size_t kThreads = 4;
  bool are_right[kThreads] = {};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const StreamGuard stream(new_stream(kCUDA));
      are_right[t] = true;
      for (std::int64_t i = 0; i < 4; ++i) {
        const std::vector<Tensor> in{numbers({3, 4}, static_cast<std::int64_t>(t) * 10 + i), numbers({4}, i)};
        are_right[t] = are_same(program.run(in), waves(in)) && are_right[t];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const bool is_right : are_right) CHECK(is_right);
  CHECK(is_replayed(program));
}

TEST_CASE("a run within a capture of the program's own is part of that") {
  if (!has_graphs()) return;
  const std::vector<Tensor> in{numbers({3, 4}, 1), numbers({4}, 2)};
  graph::Executable program(captured(waves, in));
  for (int i = 0; i < 3; ++i) program.run(in);
  CUDAGraph outer;
  std::vector<Tensor> results;
  {
    CUDAGraphCapture capture(outer);
    results = program.run(in);
    capture.end();
  }
  Tensor(in[0]).copy_(numbers({3, 4}, 5));
  outer.replay();
  CHECK(are_same(results, waves(in)));
}

TEST_CASE("a capture that lacks memory is made with what is cached, and where that is not enough the calls are made") {
  if (!has_graphs()) return;
  const std::vector<Tensor> in{numbers({3, 4}, 1), numbers({4}, 2)};
  CUDAGraph other;  // has what each graph has of the stream of captures, so that only a pool of its own is lacking
  {
    CUDAGraphCapture capture(other);
    capture.end();
  }
  for (const bool is_cached : {true, false}) {
    graph::Executable program(captured(waves, in));
    empty_cache(kCUDA);
    (void)program.run(in);
    if (is_cached) (void)empty({30 * kMiB}, kBytes);
    const NoMoreMemory full;
    CHECK(are_same(program.run(in), waves(in)));
    CHECK(is_replayed(program) == is_cached);
    if (!is_cached) CHECK(program.how().find("out of memory on cuda:0") != std::string::npos);
  }
}

TEST_CASE("a graph that gives up keeps no memory for inputs") {
  if (!has_graphs()) return;
  const Program moves = [](const std::vector<Tensor>& in) {
    Tensor shared = in[0];
    shared.mul_(2);
    return std::vector<Tensor>{(in[1] + in[2].sum()).exp().sin()};
  };
  const auto arguments = [](std::int64_t seed) {
    const Tensor both = numbers({2, 4}, seed);
    return std::vector<Tensor>{both.select(0, 0), both.view({8}), full({kMiB / 4}, 1, kThere)};
  };
  std::vector<std::vector<Tensor>> all;
  for (std::int64_t seed = 0; seed < 12; ++seed) all.push_back(arguments(seed));
  synchronize(Device("cuda:0"));
  const std::size_t before = memory_stats(kCUDA).allocated.current;
  graph::Executable program(captured(moves, all[0]));
  for (const std::vector<Tensor>& in : all) program.run(in);
  CHECK(program.how().find("cannot be captured") != std::string::npos);
  CHECK(memory_stats(kCUDA).allocated.current < before + kMiB / 2);
}

TEST_CASE("a graph that goes while its thread captures keeps what a replay still uses") {
  if (!has_graphs()) return;
  constexpr std::int64_t kMany = 1000;
  const Program program = [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{(in[0] * 2).exp().sin().sum()};
  };
  const Stream side = new_stream(kCUDA);
  auto executable = std::make_unique<graph::Executable>(captured(program, {numbers({kMany}, 1)}));
  std::vector<std::vector<Tensor>> inputs;
  for (std::int64_t seed = 1; seed < 6; ++seed) inputs.push_back({numbers({kMany}, seed)});
  for (int i = 0; i < 4; ++i) executable->run(inputs[static_cast<std::size_t>(i)]);  // what stands in is made meanwhile
  CUDAGraph other;
  {
    CUDAGraphCapture capture(other);
    std::thread([&] {
      const StreamGuard guard(side);
      executable->run(inputs[4]);
    }).join();
    executable.reset();
    capture.end();
  }
  // The memory of the default stream, in which nothing waits for the other one.
  std::vector<Tensor> news;
  for (int i = 0; i < 8; ++i) news.push_back(full({kMany}, 3, kThere));
  synchronize(current_stream(kCUDA));
  side.synchronize();
  for (const Tensor& each : news) CHECK(each.eq(3).all().item<bool>());
}

TEST_CASE("a run in another stream comes after one that has thrown when its work was queued") {
  if (!has_graphs()) return;
  // A result whose copy needs memory, and state that each run changes.
  const auto with = [](Tensor& state) {
    return [&state](const std::vector<Tensor>& in) {
      state.mul_(2).add_(in[0]);
      return std::vector<Tensor>{(in[1].sum() + zeros({kMiB / 2}, kThere)).narrow(0, 0, 3)};
    };
  };
  Tensor state = numbers({4}, 3), expected = state.clone();
  const Tensor same = numbers({4}, 9);
  std::vector<std::vector<Tensor>> in;
  for (std::int64_t seed = 0; seed < 4; ++seed) in.push_back({numbers({4}, seed), same});
  const Program step = with(state), step_of_calls = with(expected);
  graph::Executable program(captured(step, in[0]));
  state.copy_(expected);
  synchronize(Device("cuda:0"));
  const Stream first = new_stream(kCUDA), second = new_stream(kCUDA);
  {
    const StreamGuard guard(first);
    for (const std::size_t i : {0, 1}) program.run(in[i]);
    REQUIRE(is_replayed(program));
    synchronize(Device("cuda:0"));
    empty_cache(kCUDA);
    const NoMoreMemory full;
    CHECK(error_of([&] { program.run(in[2]); }).find("out of memory") != std::string::npos);
  }
  {
    const StreamGuard guard(second);
    program.run(in[3]);
  }
  second.synchronize();
  first.synchronize();
  for (const std::vector<Tensor>& each : in) step_of_calls(each);
  CHECK(are_same({state}, {expected}));
}

TEST_CASE("while another thread captures, which may wait for this one, a run that needs a capture makes its calls") {
  if (!has_graphs()) return;
  const std::vector<Tensor> in{numbers({3, 4}, 1), numbers({4}, 2)};
  graph::Executable program(captured(waves, in));
  program.run(in);
  CUDAGraph other;
  std::vector<Tensor> given;
  {
    CUDAGraphCapture capture(other);
    std::thread([&] {
      const StreamGuard stream(new_stream(kCUDA));
      given = program.run(in);
      current_stream(kCUDA).synchronize();
    }).join();
    capture.end();
  }
  CHECK(are_same(given, waves(in)));
  CHECK_FALSE(is_replayed(program));
  CHECK(are_same(program.run(in), waves(in)));
  CHECK(is_replayed(program));
}
