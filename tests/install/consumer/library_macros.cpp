// Every macro of dispatch/registry/library.h, in a program that was built apart from the library.
#include <keyway/core/keys/thread_state.h>
#include <keyway/dispatch/registry/library.h>
#include <keyway/ops/all.h>

#include <cstdio>

using namespace keyway;

namespace {
int calls = 0;
// Counts a call and passes it on.
void count(const OperatorEntry& op, const KernelBase&, DispatchKeySet keys, Stack& stack) {
  ++calls;
  redispatch_boxed(op, keys & DispatchKeySet::full_after(Functionality::Profiler), stack);
}
}  // namespace

KEYWAY_LIBRARY(my, m) { m.def("scale(Tensor self, float by=2.0) -> Tensor"); }
KEYWAY_LIBRARY_FRAGMENT(my, m) {
  m.def("twice(Tensor self) -> Tensor", [](const Tensor& self) { return self + self; });
}
KEYWAY_LIBRARY_IMPL(my, CPU, m) {
  m.impl("scale", [](const Tensor& self, double by) { return self * by; });
}
KEYWAY_LIBRARY_IMPL(_, Profiler, m) { m.fallback(count); }

int main() {
  const Dispatcher& dispatcher = Dispatcher::singleton();
  const auto scale = dispatcher.op("my::scale").typed<Tensor(const Tensor&, double)>();
  const auto twice = dispatcher.op("my::twice").typed<Tensor(const Tensor&)>();
  const Tensor x = full({1}, 3.0);
  std::printf("scale %g, twice %g\n", scale.call(x, 1.5).item().to<double>(), twice.call(x).item().to<double>());
  {
    const IncludeDispatchKeyGuard counted{DispatchKeySet(Functionality::Profiler)};
    scale.call(x, 1.5);  // and mul in its kernel
    x.neg();
  }
  std::printf("%d calls counted\n", calls);
  try {
    scale.call(empty({1}, TensorOptions().device(kMeta)), 1.5);
  } catch (const Error& error) {
    std::printf("%s\n", error.what());
  }
}
