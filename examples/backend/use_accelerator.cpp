// What the backend of accelerator/ does, whose file is the argument: training gives the CPU's losses without a call
// that falls back to the CPU, streams wait where they are told to, memory that runs out is an error, and all of it goes
// when the plug-in is unloaded. Exits with 0 if all holds.
#include <keyway/core/base/error.h>
#include <keyway/core/device/device_guard.h>
#include <keyway/core/device/event.h>
#include <keyway/core/device/stream_guard.h>
#include <keyway/core/tensor/device_allocator.h>
#include <keyway/core/tensor/pinned_memory.h>
#include <keyway/dispatch/plugin/fallback_report.h>
#include <keyway/dispatch/plugin/plugin.h>
#include <keyway/graph/capture.h>
#include <keyway/graph/executable.h>
#include <keyway/keyway.h>

#include <cmath>
#include <cstdio>
#include <vector>

using namespace keyway;

namespace {

bool all_holds = true;
void check(bool holds, const char* claim) {
  std::printf("%s: %s\n", holds ? "holds" : "FAILS", claim);
  all_holds = all_holds && holds;
}

// One block of a transformer that reads characters, between an embedding and a head.
struct TransformerImpl : nn::Module {
  static constexpr std::int64_t kWidth = 32, kHeads = 4;
  nn::Embedding characters{nullptr};
  nn::LayerNorm before{nullptr}, after{nullptr};
  nn::Linear to_heads{nullptr}, from_heads{nullptr}, head{nullptr};
  nn::Sequential thought{nullptr};

  explicit TransformerImpl(std::int64_t alphabet) {
    characters = register_module("characters", nn::Embedding(alphabet, kWidth));
    before = register_module("before", nn::LayerNorm(std::vector<std::int64_t>{kWidth}));
    after = register_module("after", nn::LayerNorm(std::vector<std::int64_t>{kWidth}));
    to_heads = register_module("to_heads", nn::Linear(kWidth, 3 * kWidth));
    from_heads = register_module("from_heads", nn::Linear(kWidth, kWidth));
    thought = register_module(
        "thought", nn::Sequential(nn::Linear(kWidth, 4 * kWidth), nn::GELU(), nn::Linear(4 * kWidth, kWidth)));
    head = register_module("head", nn::Linear(kWidth, alphabet));
  }
  Tensor forward(const Tensor& text) {
    const std::int64_t batch = text.size(0), time = text.size(1);
    const Tensor x = characters(text);
    const Tensor parts = to_heads(before(x)).view({batch, time, 3, kHeads, kWidth / kHeads}).permute({2, 0, 3, 1, 4});
    const Tensor seen = nn::functional::scaled_dot_product_attention(parts.select(0, 0), parts.select(0, 1),
                                                                     parts.select(0, 2), {}, 0.0, true);
    const Tensor y = x + from_heads(seen.transpose(1, 2).reshape({batch, time, kWidth}));
    return head(y + thought(after(y)));
  }
};
using Transformer = nn::ModuleHolder<TransformerImpl>;

struct Training {
  std::vector<double> losses;
  std::size_t fallbacks = 0;  // operators that fell back to the CPU after the first step
};
Training train_on(Device device) {
  constexpr std::int64_t kAlphabet = 20;
  manual_seed(3);
  Transformer model(kAlphabet);
  const Tensor text = randint(0, kAlphabet, {8, 17}).to(device);
  model->to(device);
  optim::AdamW adamw(model->parameters(), optim::AdamWOptions(3e-3));
  Training training;
  for (int step = 0; step < 8; ++step) {
    if (step == 1) reset_cpu_fallback_uses();
    adamw.zero_grad();
    const Tensor logits = model->forward(text.slice(1, 0, 16));
    const Tensor loss = cross_entropy_loss(logits.reshape({-1, kAlphabet}), text.slice(1, 1).reshape({-1}));
    loss.backward();
    adamw.step();
    training.losses.push_back(loss.item<double>());
  }
  if (!device.is_cpu()) training.fallbacks = cpu_fallback_uses().size();
  return training;
}

void check_training() {
  const Training cpu = train_on(kCPU);
  for (const char* name : {"accel:0", "accel:1"}) {
    const Training there = train_on(Device(name));
    bool same = true;
    for (std::size_t i = 0; i < cpu.losses.size(); ++i) {
      std::printf("  %s, step %zu: loss %.6f, on the CPU %.6f\n", name, i, there.losses[i], cpu.losses[i]);
      same = same && std::abs(there.losses[i] - cpu.losses[i]) < 1e-4;
    }
    check(same, "a transformer trains with the CPU's losses");
    check(there.fallbacks == 0, "no call of a training step falls back to the CPU");
  }
}

void check_streams() {
  const Device device("accel:1");
  const DeviceGuard guard(device);
  const Tensor on_cpu = randn({200, 200});
  const Stream producer = new_stream(device), consumer = new_stream(device);
  Tensor product, sum;
  Event produced(device.type());
  {
    const StreamGuard in_producer(producer);
    product = on_cpu.to(device);
    for (int i = 0; i < 3; ++i) product = product.mm(product) / 200;
    produced.record(producer);
  }
  check(!produced.query(), "the host goes on while a stream works");
  {
    const StreamGuard in_consumer(consumer);
    produced.block(consumer);
    record_stream(product, consumer);
    sum = product + 1;
    product = Tensor();  // its memory is not given out again before the consumer is done
  }
  consumer.synchronize();
  Tensor expected = on_cpu;
  for (int i = 0; i < 3; ++i) expected = expected.mm(expected) / 200;
  check(allclose(sum.to(kCPU), expected + 1, 1e-4, 1e-4), "a stream that waits for another reads what that wrote");

  const Tensor pinned = on_cpu.pin_memory(device);
  const Tensor copied = pinned.to(device, /*non_blocking=*/true);
  check(equal(copied.to(kCPU), on_cpu), "pinned memory is copied while the host goes on");
  const Tensor other = copied.to(Device("accel:0"));
  check(other.device().index() == 0 && equal(other.to(kCPU), on_cpu), "devices copy from each other");
}

void check_memory() {
  const Device device("accel:0");
  const MemoryInfo info = get_memory_info(device);
  std::vector<Tensor> held;
  std::string error;
  try {
    while (true) held.push_back(ones({4 << 20}, TensorOptions().device(device)));
  } catch (const Error& caught) {
    error = caught.kind() == ErrorKind::OutOfMemory ? caught.what() : "";
  }
  std::printf("  %s\n", error.c_str());
  check(!error.empty() && held.size() >= 8, "memory that runs out is an error that says so");
  check(held.back().sum().item<double>() == 4 << 20, "what was there is still right");
  held.clear();
  check(memory_stats(device).reserved.current > info.total / 2, "freed memory is kept for reuse");
  empty_cache(device.type());
  check(memory_stats(device).reserved.current < info.total / 2, "empty_cache gives it back");
}

void check_errors() {
  const Tensor table = ones({3, 2}, TensorOptions().device(Device("accel")));
  const Tensor index = full({1}, 7, kLong).to(Device("accel"));
  const Tensor row = index_select(table, 0, index);
  try {
    synchronize(Device("accel"));
    check(false, "an index out of range is an error of the next synchronisation");
  } catch (const Error& error) {
    check(error.kind() == ErrorKind::Index, "an index out of range is an error of the next synchronisation");
  }
}

// A training step on the device; what it gives is the loss.
struct Step {
  Tensor input, target;
  nn::Sequential model{nullptr};
  std::unique_ptr<optim::SGD> sgd;

  explicit Step(Device device) {
    manual_seed(4);
    model = nn::Sequential(nn::Linear(8, 32), nn::GELU(), nn::Linear(32, 32), nn::Tanh(), nn::Linear(32, 3));
    input = randn({16, 8}).to(device);
    target = randn({16, 3}).to(device);
    model->to(device);
    sgd = std::make_unique<optim::SGD>(model->parameters(), optim::SGDOptions(0.1).momentum(0.9));
    take();  // which makes what the optimizer keeps
  }
  Tensor take() {
    sgd->zero_grad();
    const Tensor difference = model->forward(input) - target;
    const Tensor loss = (difference * difference).mean();
    loss.backward();
    sgd->step();
    return loss.detach();
  }
};

void check_graphs() {
  const Device device("accel:1");
  Step eager(device), compiled(device);
  graph::Capture capture(graph::Level::Executed);
  Tensor loss = compiled.take();
  graph::Executable program(capture.finish({loss}));
  bool same = equal(loss.to(kCPU), eager.take().to(kCPU));
  for (int step = 0; step < 5; ++step) same = same && equal(program.run({})[0].to(kCPU), eager.take().to(kCPU));
  const std::vector<Tensor> parameters = compiled.model->parameters(), expected = eager.model->parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i)
    same = same && equal(parameters[i].detach().to(kCPU), expected[i].detach().to(kCPU));
  std::printf("  a graph of %zu calls runs %s\n", program.graph().nodes.size(), program.how().c_str());
  check(same, "a training step that the backend has compiled gives the bits of its kernels");
  check(program.how() == "by the graph backend of accel", "the backend takes the graph of a training step");

  graph::Capture of_a_product(graph::Level::Executed);
  const Tensor product = eager.input.mm(eager.input.t());
  graph::Executable declined(of_a_product.finish({product}));
  check(equal(declined.run({})[0].to(kCPU), product.to(kCPU)) &&
            declined.how() ==
                "call by call: the graph backend of accel declined it: it has no two pointwise calls in a "
                "row, which one command could make",
        "a graph that the backend declines runs call by call, and says why");
}

void check_unloading(LoadedPlugin& plugin) {
  const Tensor held = ones({3}, TensorOptions().device(Device("accel")));
  try {
    plugin.unload();
    check(false, "a plug-in whose memory is in use stays");
  } catch (const Error& error) {
    check(held.sum().item<double>() == 3, "a plug-in whose memory is in use stays");
  }
}

}  // namespace

int main(int, char** argv) {
  LoadedPlugin plugin = load_plugin(argv[1]);
  check_training();
  check_streams();
  check_memory();
  check_errors();
  check_graphs();
  check_unloading(plugin);
  // A graph without state does not hold the plug-in.
  const auto twice = [](const Tensor& of) { return (of + of).exp(); };
  Tensor x = ones({3}, TensorOptions().device(Device("accel")));
  auto capture = std::make_unique<graph::Capture>(graph::Level::Executed);
  capture->add_argument(x);
  graph::Executable program(capture->finish({twice(x)}));
  capture = nullptr;  // which keeps the argument
  check(equal(program.run({x})[0].to(kCPU), twice(x).to(kCPU)) && program.how() == "by the graph backend of accel",
        "a graph of arguments alone is compiled");
  x = Tensor();
  plugin.unload();
  check(!plugin.loaded(), "it goes when nothing is in use");
  check(program.mismatch({ones({3})}).has_value(), "a graph that it has compiled stays");
  return all_holds ? 0 : 1;
}
