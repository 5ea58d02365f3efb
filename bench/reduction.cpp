// Reductions over 16M floats, normalisations along rows of 1024, and the cross entropy of rows of 32768.
#include <keyway/bench/harness.h>

namespace {

constexpr std::int64_t kSide = 4096;
constexpr double kBytes = 4.0 * kSide * kSide;

void sum_all(bench::State& state) {
  const lib::Tensor a = lib::rand({kSide, kSide});
  for (auto _ : state) bench::keep(a.sum());
  bench::moves_bytes(state, kBytes);
}

void sum_dim(bench::State& state, std::int64_t dim) {
  const lib::Tensor a = lib::rand({kSide, kSide});
  for (auto _ : state) bench::keep(a.sum(dim));
  bench::moves_bytes(state, kBytes);
}
void sum_first(bench::State& state) { sum_dim(state, 0); }
void sum_last(bench::State& state) { sum_dim(state, 1); }

lib::Tensor rows_of_1024() { return lib::rand({16, 1024, 1024}); }

void softmax(bench::State& state) {
  const lib::Tensor a = rows_of_1024();
  for (auto _ : state) bench::keep(lib::softmax(a, -1));
  bench::moves_bytes(state, 2 * kBytes);
}

void layer_norm(bench::State& state) {
  const lib::Tensor a = rows_of_1024(), weight = lib::ones({1024}), bias = lib::zeros({1024});
  for (auto _ : state) bench::keep(lib::layer_norm(a, {1024}, weight, bias));
  bench::moves_bytes(state, 2 * kBytes);
}

// And its gradient: what has to move is the logits, twice, and the gradient.
void cross_entropy(bench::State& state) {
  constexpr std::int64_t kClasses = 32768, kRows = kSide * kSide / kClasses;
  const lib::Tensor logits = lib::rand({kRows, kClasses}).requires_grad_();
  const lib::Tensor target = lib::randint(kClasses, {kRows}, lib::kInt64);
  for (auto _ : state) {
    const lib::Tensor loss = lib::nn::functional::cross_entropy(logits, target);
    bench::keep(lib::autograd::grad({loss}, {logits})[0]);
  }
  bench::moves_bytes(state, 3 * kBytes);
}

const bench::Row rows[] = {{"sum/all", sum_all}, {"sum/first_dim", sum_first}, {"sum/last_dim", sum_last},
                           {"softmax", softmax}, {"layer_norm", layer_norm},   {"cross_entropy", cross_entropy}};

}  // namespace
