// What no library can be below: the launch of a kernel that does nothing.
#include <benchmark/benchmark.h>

namespace {

__global__ void nothing() {}

void bare_launch(benchmark::State& state) {
  constexpr int kLaunches = 200;
  for (auto _ : state) {
    for (int i = 0; i < kLaunches; ++i) nothing<<<1, 32>>>();
    state.PauseTiming();
    cudaDeviceSynchronize();
    state.ResumeTiming();
  }
  state.counters["times"] = kLaunches;
}

[[maybe_unused]] const auto* const row = benchmark::RegisterBenchmark("host/bare_launch", bare_launch) -> UseRealTime();

}  // namespace
