// One call, again and again: calls NAME COUNT. instructions_test.py counts the instructions of it.
#include <keyway/core/base/warning.h>
#include <keyway/dispatch/registry/library.h>
#include <keyway/ops/all.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

using namespace keyway;

KEYWAY_LIBRARY(counted, m) {
  m.def<"nothing(Tensor self) -> ()">();
  m.def<"identity(Tensor self) -> Tensor">();
  m.def<"constant(Tensor self) -> Tensor">();
  m.def<"boxed(Tensor self) -> ()">();
}
KEYWAY_LIBRARY_IMPL(counted, CPU, m) {
  m.impl("nothing", [](const Tensor&) {});
  m.impl("identity", [](const Tensor& self) { return self; });
  m.impl("constant", [](const Tensor&) {
    static const Tensor one = ones({1});
    return one;
  });
  m.impl_boxed("boxed",
               [](const OperatorEntry&, const KernelBase&, DispatchKeySet, Stack& stack) { stack.pop_back(); });
}

namespace {

void call_nothing(long count) {
  const auto op = Dispatcher::singleton().op("counted::nothing").typed<void(const Tensor&)>();
  const Tensor tensor = empty({1});
  for (long i = 0; i < count; ++i) op.call(tensor);
}

// A user's operator without a kernel at Autograd: its result loses a gradient if its argument has one.
void call_unary(const char* name, const Tensor& tensor, long count) {
  const auto op = Dispatcher::singleton().op(name).typed<Tensor(const Tensor&)>();
  for (long i = 0; i < count; ++i) (void)op.call(tensor);
}

void call_boxed(long count) {
  const OperatorHandle op = Dispatcher::singleton().op("counted::boxed");
  const Tensor tensor = empty({1});
  Stack stack;
  stack.reserve(4);
  for (long i = 0; i < count; ++i) {
    stack.emplace_back(tensor);
    op.call_boxed(stack);
  }
}

template <typename F>
void repeat(long count, F&& call) {
  for (long i = 0; i < count; ++i) (void)call();
}

using Run = void (*)(long count);
const std::map<std::string, Run> kRuns = {
    {"typed", call_nothing},
    {"identity", [](long count) { call_unary("counted::identity", empty({1}), count); }},
    {"identity_off",
     [](long count) {
       const Tensor a = empty({1}).requires_grad_();
       const NoGradGuard off;
       call_unary("counted::identity", a, count);
     }},
    {"lost",  // after its first call it is warned of
     [](long count) {
       set_warning_handler({});
       call_unary("counted::constant", empty({1}).requires_grad_(), count);
     }},
    {"boxed", call_boxed},
    {"empty", [](long count) { repeat(count, [] { return empty({1}); }); }},
    {"add",
     [](long count) {
       const Tensor a = ones({1}), b = ones({1});
       repeat(count, [&] { return a.add(b); });
     }},
    {"add_",
     [](long count) {
       const Tensor a = ones({1}), b = ones({1});
       repeat(count, [&] { return a.add_(b); });
     }},
    {"view",
     [](long count) {
       const Tensor a = ones({8, 8});
       repeat(count, [&] { return a.view({64}); });
     }},
    {"sum",
     [](long count) {
       const Tensor a = ones({12});
       repeat(count, [&] { return a.sum(); });
     }},
    {"add_recorded",
     [](long count) {
       const Tensor a = ones({1}).requires_grad_(), b = ones({1});
       repeat(count, [&] { return a.add(b); });
     }},
};

}  // namespace

int main(int argc, char** argv) {
  const auto run = kRuns.find(argc == 3 ? argv[1] : "");
  if (run == kRuns.end()) {
    std::fprintf(stderr, "usage: calls NAME COUNT\n");
    return 2;
  }
  run->second(std::atol(argv[2]));
  return 0;
}
