// Training steps on a CUDA device, of what the host's time bounds and of what the device's does; and a step that is
// captured and replayed, or run by the graph backend.
#include <keyway/bench/cuda/device.h>
#include <keyway/bench/train.h>
#if !defined(KEYWAY_BENCH_TORCH)
#include <keyway/core/device/cuda_graph.h>
#endif

namespace {

constexpr bench::MlpShape kWideMlp{1024, 4096, 4096, 1000};

auto sgd = [](auto parameters) { return lib::optim::SGD(parameters, lib::optim::SGDOptions(0.01)); };
auto adam = [](auto parameters) { return lib::optim::Adam(parameters, lib::optim::AdamOptions(0.001)); };

lib::Tensor targets(std::int64_t batch) { return lib::zeros({batch}, bench::on_device().dtype(lib::kInt64)); }

// Calls use(step) with a step of a perceptron.
template <typename MakeOptimizer, typename Use>
void with_mlp(bench::MlpShape shape, MakeOptimizer make_optimizer, const Use& use) {
  lib::nn::Sequential model = bench::make_mlp(shape);
  model->to(lib::Device(lib::kCUDA, 0));
  auto optimizer = make_optimizer(model->parameters());
  const lib::Tensor input = bench::drawn(shape.batch, shape.inputs), target = targets(shape.batch);
  use([&] { bench::train_step([&](const lib::Tensor& x) { return model->forward(x); }, optimizer, input, target); });
}

void mlp(bench::State& state) {
  with_mlp(bench::kMlp, sgd, [&](const auto& step) { bench::queue(state, step); });
}
void mlp_adam(bench::State& state) {
  with_mlp(bench::kMlp, adam, [&](const auto& step) { bench::queue(state, step); });
}
void wide_mlp(bench::State& state) {
  with_mlp(kWideMlp, sgd, [&](const auto& step) { bench::queue(state, step); });
}

// Two convolutions and a layer, of images of 32x32. float32 is computed in float32, as in products: PyTorch, which
// rounds it to TF32 for convolutions, has to be told.
template <lib::ScalarType dtype>
void convolutions(bench::State& state) {
#if defined(KEYWAY_BENCH_TORCH)
  at::globalContext().setAllowTF32CuDNN(false);
#endif
  constexpr std::int64_t kBatch = 256;
  lib::nn::Conv2d first(lib::nn::Conv2dOptions(3, 64, 3).padding(1));
  lib::nn::Conv2d second(lib::nn::Conv2dOptions(64, 128, 3).stride(2).padding(1));
  lib::nn::Linear last(128 * 16 * 16, 10);
  lib::nn::Sequential all(first, second, last);
  all->to(lib::Device(lib::kCUDA, 0), dtype);
  auto optimizer = sgd(all->parameters());
  const auto forward = [&](const lib::Tensor& x) {
    return last->forward(second->forward(first->forward(x).relu()).relu().flatten(1));
  };
  const lib::Tensor input = bench::drawn(kBatch, std::int64_t{3}, std::int64_t{32}, std::int64_t{32}).to(dtype);
  const lib::Tensor target = targets(kBatch);
  bench::queue(state, [&] { bench::train_step(forward, optimizer, input, target); });
}

const bench::Row rows[] = {{"train/mlp", mlp},
                           {"train/mlp/adam", mlp_adam},
                           {"train/mlp/wide", wide_mlp},
                           {"train/convolutions", convolutions<lib::kFloat>},
                           {"train/convolutions/bfloat16", convolutions<lib::kBFloat16>}};

#if !defined(KEYWAY_BENCH_TORCH)
// What was captured keeps its gradients: there are none to be made anew.
void mlp_graph(bench::State& state) {
  with_mlp(bench::kMlp, sgd, [&](const auto& step) {
    lib::CUDAGraph graph;
    {
      const lib::StreamGuard stream(lib::new_stream(lib::kCUDA));
      for (int i = 0; i < 3; ++i) step();
      bench::wait();
    }
    lib::CUDAGraphCapture capture(graph);
    step();
    capture.end();
    bench::queue(state, [&] { graph.replay(); });
  });
}

// The step as the graph backend runs it.
void mlp_compiled(bench::State& state) {
  with_mlp(bench::kMlp, sgd, [&](const auto& step) {
    step();
    lib::graph::Capture capture(lib::graph::Level::Executed);
    step();
    lib::graph::Executable program(capture.finish({}));
    for (int i = 0; i < 3; ++i) program.run({});
    bench::queue(state, [&] { program.run({}); });
  });
}

// Ten pointwise calls, one after the other, or as the graph backend's one kernel.
lib::Tensor chain(lib::Tensor x) {
  for (int i = 0; i < 5; ++i) x = (x * 0.5).sin();
  return x;
}
template <std::int64_t size, bool is_compiled>
void pointwise_chain(bench::State& state) {
  const lib::Tensor x = bench::drawn(size);
  if constexpr (!is_compiled) return bench::queue(state, [&] { chain(x); });
  lib::graph::Capture capture(lib::graph::Level::Executed);
  capture.add_argument(x);
  lib::graph::Executable program(capture.finish({chain(x)}));
  for (int i = 0; i < 3; ++i) program.run({x});
  bench::queue(state, [&] { program.run({x}); });
}

constexpr std::int64_t kFew = 1 << 12, kMany = 1 << 24;
const bench::Row graph_rows[] = {{"train/mlp/graph", mlp_graph},
                                 {"train/mlp/compiled", mlp_compiled},
                                 {"chain/few/calls", pointwise_chain<kFew, false>},
                                 {"chain/few/compiled", pointwise_chain<kFew, true>},
                                 {"chain/many/calls", pointwise_chain<kMany, false>},
                                 {"chain/many/compiled", pointwise_chain<kMany, true>}};
#endif

}  // namespace
