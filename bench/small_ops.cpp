// Small operators without a gradient: what is left beside the arithmetic.
#include <keyway/bench/harness.h>

namespace {

void empty(bench::State& state) {
  for (auto _ : state) bench::keep(lib::empty({1}));
}

void add(bench::State& state) {
  const lib::Tensor a = lib::ones({1}), b = lib::ones({1});
  for (auto _ : state) bench::keep(lib::add(a, b));
}

void add_in_place(bench::State& state) {
  lib::Tensor a = lib::ones({1});
  const lib::Tensor b = lib::ones({1});
  for (auto _ : state) bench::keep(a.add_(b));
}

void sum(bench::State& state) {
  const lib::Tensor a = lib::ones({12});
  for (auto _ : state) bench::keep(a.sum());
}

void mm(bench::State& state) {
  const lib::Tensor a = lib::ones({8, 8}), b = lib::ones({8, 8});
  for (auto _ : state) bench::keep(lib::mm(a, b));
}

const bench::Row rows[] = {{"empty/1", empty}, {"add/1", add}, {"add_/1", add_in_place}, {"sum/12", sum}, {"mm/8", mm}};

}  // namespace
