// A training step of a multi-layer perceptron: zero_grad, forward, cross-entropy, backward, step.
#pragma once

#include <keyway/bench/harness.h>

#include <cstdint>

namespace bench {

struct MlpShape {
  std::int64_t batch, inputs, hidden, classes;
};
inline constexpr MlpShape kSmallMlp{4, 8, 8, 2};
inline constexpr MlpShape kMlp{64, 784, 256, 10};

inline lib::nn::Sequential make_mlp(MlpShape shape) {
  return lib::nn::Sequential(lib::nn::Linear(shape.inputs, shape.hidden), lib::nn::ReLU(),
                             lib::nn::Linear(shape.hidden, shape.hidden), lib::nn::ReLU(),
                             lib::nn::Linear(shape.hidden, shape.classes));
}

// Of what forward(input) gives.
template <typename Forward, typename Optimizer>
void train_step(const Forward& forward, Optimizer& optimizer, const lib::Tensor& input, const lib::Tensor& target) {
  optimizer.zero_grad();
  lib::Tensor loss = lib::nn::functional::cross_entropy(forward(input), target);
  loss.backward();
  optimizer.step();
}

// make_optimizer(parameters) -> the optimizer that steps.
template <typename MakeOptimizer>
void train(State& state, MlpShape shape, int threads, MakeOptimizer make_optimizer) {
  lib::set_num_threads(threads);
  lib::manual_seed(1);
  lib::nn::Sequential model = make_mlp(shape);
  auto optimizer = make_optimizer(model->parameters());
  const lib::Tensor input = lib::randn({shape.batch, shape.inputs});
  const lib::Tensor target = lib::randint(shape.classes, {shape.batch}, lib::kInt64);
  for (auto _ : state) train_step([&](const lib::Tensor& x) { return model->forward(x); }, optimizer, input, target);
  lib::set_num_threads(1);
}

}  // namespace bench
