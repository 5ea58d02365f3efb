// Matrix products on a CUDA device.
#include <keyway/bench/cuda/device.h>

namespace {

// Of float32 in float32: neither library rounds to TF32 unless it is told to.
template <std::int64_t N>
void mm(bench::State& state, lib::ScalarType dtype) {
  const lib::Tensor a = bench::drawn(N, N).to(dtype), b = bench::drawn(N, N).to(dtype);
  bench::queue(state, [&] { bench::keep(lib::mm(a, b)); });
  bench::computes(state, 2.0 * N * N * N);
}

const bench::Row rows[] = {
    {"mm/4096", [](bench::State& state) { mm<4096>(state, lib::kFloat); }},
    {"mm/4096/bfloat16", [](bench::State& state) { mm<4096>(state, lib::kBFloat16); }},
    {"mm/512/bfloat16", [](bench::State& state) { mm<512>(state, lib::kBFloat16); }},
};

}  // namespace
