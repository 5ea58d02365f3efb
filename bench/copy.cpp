// Copies that change the order or the type of 16M elements.
#include <keyway/bench/harness.h>

namespace {

constexpr double kCount = 1 << 24;

void transpose_contiguous(bench::State& state) {
  const lib::Tensor a = lib::rand({16, 1024, 1024});
  for (auto _ : state) bench::keep(a.transpose(1, 2).contiguous());
  bench::moves_bytes(state, 8 * kCount);
}

void to_bfloat16(bench::State& state) {
  const lib::Tensor a = lib::rand({1 << 24});
  for (auto _ : state) bench::keep(a.to(lib::kBFloat16));
  bench::moves_bytes(state, 6 * kCount);
}

const bench::Row rows[] = {{"transpose_contiguous", transpose_contiguous}, {"to_bfloat16", to_bfloat16}};

}  // namespace
