// Views: a new tensor on the same storage, nothing read.
#include <keyway/bench/harness.h>

namespace {

void view(bench::State& state) {
  const lib::Tensor a = lib::ones({8, 8});
  for (auto _ : state) bench::keep(a.view({4, 16}));
}

void select(bench::State& state) {
  const lib::Tensor a = lib::ones({8, 8});
  for (auto _ : state) bench::keep(a.select(0, 3));
}

void slice(bench::State& state) {
  const lib::Tensor a = lib::ones({8, 8});
  for (auto _ : state) bench::keep(a.slice(0, 2, 6));
}

void transpose(bench::State& state) {
  const lib::Tensor a = lib::ones({8, 8});
  for (auto _ : state) bench::keep(a.transpose(0, 1));
}

const bench::Row rows[] = {{"view", view}, {"select", select}, {"slice", slice}, {"transpose", transpose}};

}  // namespace
