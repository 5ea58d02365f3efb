// What a call costs when the registry holds more, and what it costs when its kernel can go: the typed call of
// dispatch.cpp again, of Keyway alone.
#include <keyway/bench/harness.h>
#include <keyway/dispatch/inspect/dispatch_recording.h>
#include <keyway/dispatch/inspect/explain.h>

#include <memory>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

using Noop = void(const lib::Tensor&);

lib::TypedOperatorHandle<Noop> noop() { return lib::Dispatcher::singleton().op("keyway_bench::noop").typed<Noop>(); }

void call(bench::State& state) {
  const auto op = noop();
  const lib::Tensor tensor = lib::empty({1});
  for (auto _ : state) op.call(tensor);
}

// With so many operators registered beside it, each with a kernel of its own.
template <int count>
void among_operators(bench::State& state) {
  lib::Library many(lib::Library::Kind::Fragment, "keyway_bench_many");
  for (int i = 0; i < count; ++i) {
    const std::string name = "op" + std::to_string(i);
    many.def(name + "(Tensor self) -> ()");
    many.impl(name, lib::DispatchKey::CPU, [](const lib::Tensor&) {});
  }
  const lib::RegistrationHandle registered = many.commit();
  call(state);
}

// With kernels for 20 backends besides the CPU, and with gradients of their own too: the keys that a call passes over
// then differ from backend to backend.
template <bool own_gradients>
void among_backends(bench::State& state) {
  lib::Library many(lib::Library::Kind::Fragment, "keyway_bench");
  for (int i = 0; i < 20; ++i) {
    const lib::DeviceType type = lib::register_device_type("bench" + std::to_string(i));
    many.impl("noop", lib::runtime_key(lib::Functionality::Dense, type), [](const lib::Tensor&) {});
    if (own_gradients)
      many.impl("noop", lib::runtime_key(lib::Functionality::Autograd, type), [](const lib::Tensor&) {});
  }
  const lib::RegistrationHandle registered = many.commit();
  call(state);
}

// After a call was explained and others were recorded.
void after_looking(bench::State& state) {
  const auto op = noop();
  const lib::Tensor tensor = lib::empty({1});
  bench::keep(lib::explain(op, tensor.key_set()));
  {
    const lib::ObserverHandle on = lib::observe_calls(std::make_shared<lib::DispatchRecorder>());
    op.call(tensor);
  }
  call(state);
}

constexpr int kCallsAtOnce = 1'000'000;

void call_many_times() {
  const auto op = noop();
  const lib::Tensor tensor = lib::empty({1});
  for (int i = 0; i < kCallsAtOnce; ++i) op.call(tensor);
}

// From two threads at once.
void from_two_threads(bench::State& state) {
  for (auto _ : state) {
    std::thread other(call_many_times);
    call_many_times();
    other.join();
  }
  bench::does_times(state, 2 * kCallsAtOnce);
}

// From two processes at once, which have nothing in common but the machine: what two threads can reach.
void from_two_processes(bench::State& state) {
  for (auto _ : state) {
    const pid_t other = fork();
    if (other == 0) {
      call_many_times();
      _exit(0);
    }
    call_many_times();
    waitpid(other, nullptr, 0);
  }
  bench::does_times(state, 2 * kCallsAtOnce);
}

// Of a kernel whose registration can be undone: its calls are counted.
void counted(bench::State& state) {
  lib::Library block(lib::Library::Kind::Fragment, "keyway_bench");
  const lib::RegistrationHandle registered =
      block.impl("noop", lib::DispatchKey::CPU, [](const lib::Tensor&) {}).commit();
  call(state);
}

const bench::Row rows[] = {{"dispatch/10_ops", among_operators<10>},
                           {"dispatch/1000_ops", among_operators<1000>},
                           {"dispatch/100000_ops", among_operators<100000>},
                           {"dispatch/20_backends", among_backends<false>},
                           {"dispatch/20_gradients", among_backends<true>},
                           {"dispatch/after_explain", after_looking},
                           {"dispatch/typed/2_threads", from_two_threads},
                           {"dispatch/typed/2_processes", from_two_processes},
                           {"dispatch/counted", counted}};

}  // namespace
