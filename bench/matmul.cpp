// Matrix products and a convolution.
#include <keyway/bench/harness.h>

namespace {

template <std::int64_t N>
void mm(bench::State& state) {
  const lib::Tensor a = lib::rand({N, N}), b = lib::rand({N, N});
  for (auto _ : state) bench::keep(lib::mm(a, b));
  bench::computes(state, 2.0 * N * N * N);
}

void bmm(bench::State& state) {
  const lib::Tensor a = lib::rand({64, 128, 64}), b = lib::rand({64, 64, 128});
  for (auto _ : state) bench::keep(lib::bmm(a, b));
  bench::computes(state, 2.0 * 64 * 128 * 64 * 128);
}

void conv2d(bench::State& state) {
  const lib::Tensor image = lib::rand({8, 64, 56, 56}), weight = lib::rand({64, 64, 3, 3});
  for (auto _ : state) bench::keep(lib::conv2d(image, weight, {}, 1, 1));
  bench::computes(state, 2.0 * 8 * 64 * 56 * 56 * 64 * 3 * 3);
}

const bench::Row rows[] = {{"mm/32", mm<32>},     {"mm/64", mm<64>}, {"mm/128", mm<128>}, {"mm/512", mm<512>},
                           {"mm/1024", mm<1024>}, {"bmm", bmm},      {"conv2d", conv2d}};

}  // namespace
