// What a call costs before any kernel does anything: libtorch.
#include <keyway/bench/harness.h>

#include <torch/library.h>
#include <utility>

namespace {

lib::Tensor parked;  // where the boxed kernel puts its argument, so that it is moved and not counted

void noop(const lib::Tensor&) {}
lib::Tensor identity(const lib::Tensor& self) { return self; }
void boxed_noop(const c10::OperatorHandle&, torch::jit::Stack* stack) {
  parked = std::move(stack->back()).toTensor();
  stack->pop_back();
}

TORCH_LIBRARY(keyway_bench, m) {
  m.def("noop(Tensor self) -> ()");
  m.def("identity(Tensor self) -> Tensor");
  m.def("boxed_noop(Tensor self) -> ()");
}
TORCH_LIBRARY_IMPL(keyway_bench, CPU, m) {
  m.impl("noop", noop);
  m.impl("identity", identity);
  m.impl("boxed_noop", torch::CppFunction::makeFromBoxedFunction<boxed_noop>());
}

c10::OperatorHandle find(const char* name) { return c10::Dispatcher::singleton().findSchemaOrThrow(name, ""); }

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
  torch::jit::Stack stack;
  stack.reserve(4);
  parked = lib::empty({1});
  for (auto _ : state) {
    stack.emplace_back(std::move(parked));
    op.callBoxed(&stack);
  }
  parked.reset();
}

const bench::Row rows[] = {
    {"dispatch/typed", call_typed}, {"dispatch/identity", call_identity}, {"dispatch/boxed", call_boxed}};

}  // namespace
