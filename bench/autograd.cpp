// What recording a graph and walking it backward cost.
#include <keyway/bench/harness.h>

namespace {

void add_recording(bench::State& state) {
  const lib::Tensor a = lib::ones({1}).requires_grad_();
  const lib::Tensor b = lib::ones({1});
  for (auto _ : state) bench::keep(lib::add(a, b));
}

void mul_chain(bench::State& state) {
  constexpr int kNodes = 1000;
  const lib::Tensor x = lib::ones({1}).requires_grad_();
  const lib::Tensor factor = lib::ones({1});
  for (auto _ : state) {
    lib::Tensor y = x;
    for (int i = 0; i < kNodes; ++i) y = lib::mul(y, factor);
    y.backward();  // adds to x.grad()
  }
  bench::does_times(state, kNodes);
}

const bench::Row rows[] = {{"add_grad/1", add_recording}, {"mul_chain/1000", mul_chain}};

}  // namespace
