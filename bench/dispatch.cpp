// What a call costs before any kernel does anything.
#include <keyway/bench/harness.h>

#if defined(KEYWAY_BENCH_TORCH)
#include <torch/library.h>
#endif
#include <utility>

namespace {

lib::Tensor parked;  // where the boxed kernel puts its argument, so that it is moved and not counted

void noop(const lib::Tensor&) {}
lib::Tensor identity(const lib::Tensor& self) { return self; }

// What the libraries call differently.
#if defined(KEYWAY_BENCH_TORCH)

using Operator = c10::OperatorHandle;
using Stack = torch::jit::Stack;

void boxed_noop(const Operator&, Stack* stack) {
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

Operator find(const char* name) { return c10::Dispatcher::singleton().findSchemaOrThrow(name, ""); }
void run(const Operator& op, Stack& stack) { op.callBoxed(&stack); }

#else

using Operator = lib::OperatorHandle;
using Stack = lib::Stack;

void boxed_noop(const lib::OperatorEntry&, const lib::KernelBase&, lib::DispatchKeySet, Stack& stack) {
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

Operator find(const char* name) { return lib::Dispatcher::singleton().op(name); }
void run(const Operator& op, Stack& stack) { op.call_boxed(stack); }

#endif

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
  const Operator op = find("keyway_bench::boxed_noop");
  Stack stack;
  stack.reserve(4);
  parked = lib::empty({1});
  for (auto _ : state) {
    stack.emplace_back(std::move(parked));
    run(op, stack);
  }
  parked.reset();
}

const bench::Row rows[] = {
    {"dispatch/typed", call_typed}, {"dispatch/identity", call_identity}, {"dispatch/boxed", call_boxed}};

}  // namespace
