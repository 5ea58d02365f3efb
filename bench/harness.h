// What a benchmark row is written with. A row has the same name in bench/rows.txt and in both programs.
#pragma once

#include <keyway/bench/lib.h>

#include <benchmark/benchmark.h>
#include <cstdint>

namespace bench {

using State = benchmark::State;

// Registers a row while the program starts: static const Row rows[] = {{"add/1", add}, ...};
struct Row {
  Row(const char* name, void (*run)(State&)) { benchmark::RegisterBenchmark(name, run)->UseRealTime(); }
};

// Says what one iteration did: moved bytes, computed floating-point operations, or did `n` times what the row
// counts.
inline void moves_bytes(State& state, double n) { state.counters["bytes"] = n; }
inline void computes(State& state, double flop) { state.counters["flop"] = flop; }
inline void does_times(State& state, double n) { state.counters["times"] = n; }

// Keeps the compiler from dropping what makes `value`.
template <typename T>
void keep(T&& value) {
  benchmark::DoNotOptimize(value);
}

}  // namespace bench
