// What rows of a CUDA device are written with.
#pragma once

#include <keyway/bench/harness.h>
#if !defined(KEYWAY_BENCH_TORCH)
#include <keyway/core/device/device_guard.h>
#endif

#include <cstdint>

namespace bench {

#if defined(KEYWAY_BENCH_TORCH)
inline void wait() { torch::cuda::synchronize(); }
#else
inline void wait() { lib::synchronize(lib::Device(lib::kCUDA, 0)); }
#endif

inline lib::TensorOptions on_device() { return lib::TensorOptions().device(lib::kCUDA); }

// Drawn on the device: the host would take longer for one row than the device for all.
template <typename... Sizes>
lib::Tensor drawn(Sizes... sizes) {
  return lib::rand({sizes...}, on_device().dtype(lib::kFloat));
}

inline constexpr int kQueued = 20;

// Queues a call some times, and waits for the device once.
template <typename Call>
void queue(State& state, const Call& call) {
  call();
  wait();
  for (auto _ : state) {
    for (int i = 0; i < kQueued; ++i) call();
    wait();
  }
  does_times(state, kQueued);
}

}  // namespace bench
