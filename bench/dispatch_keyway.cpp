// What a call costs before any kernel does anything: Keyway.
#include <keyway/bench/harness.h>

#include <utility>

namespace {

lib::Tensor parked;  // where the boxed kernel puts its argument, so that it is moved and not counted

void noop(const lib::Tensor&) {}
lib::Tensor identity(const lib::Tensor& self) { return self; }
void boxed_noop(const lib::OperatorEntry&, const lib::KernelBase&, lib::DispatchKeySet, lib::Stack& stack) {
  parked = std::move(stack.back()).to_tensor();
  stack.pop_back();
}

KEYWAY_LIBRARY(keyway_bench, m) {
  m.def("noop(Tensor self) -> ()");
  m.def("identity(Tensor self) -> Tensor");
  m.def("boxed_noop(Tensor self) -> ()");
}
KEYWAY_LIBRARY_IMPL(keyway_bench, CPU, m) {
  m.impl("noop", noop);
  m.impl("identity", identity);
  m.impl_boxed("boxed_noop", boxed_noop);
}

lib::OperatorHandle find(const char* name) { return lib::Dispatcher::singleton().op(name); }

void call_typed(bench::State& state) {
  const auto op = find("keyway_bench::noop").typed<void(const lib::Tensor&)>();
  const lib::Tensor tensor = lib::empty({1});
  for (auto _ : state) op.call(tensor);
}

void call_identity(bench::State& state) {
  const auto op = find("keyway_bench::identity").typed<lib::Tensor(const lib::Tensor&)>();
  const lib::Tensor tensor = lib::empty({1});
  for (auto _ : state) bench::keep(op.call(tensor));
}

void call_boxed(bench::State& state) {
  const auto op = find("keyway_bench::boxed_noop");
  lib::Stack stack;
  stack.reserve(4);
  parked = lib::empty({1});
  for (auto _ : state) {
    stack.emplace_back(std::move(parked));
    op.call_boxed(stack);
  }
  parked.reset();
}

const bench::Row rows[] = {
    {"dispatch/typed", call_typed}, {"dispatch/identity", call_identity}, {"dispatch/boxed", call_boxed}};

}  // namespace
