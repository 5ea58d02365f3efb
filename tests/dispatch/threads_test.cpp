// For ThreadSanitizer: calls go on while operators are defined, overridden and undone.
#include <keyway/tests/catch.h>
#include <keyway/tests/dispatch/block.h>

#include <atomic>
#include <thread>

using namespace keyway;
using namespace keyway::testing;

namespace {
using Sig = std::int64_t(const TensorBase&);

template <std::int64_t n>
std::int64_t gives(const TensorBase&) {
  return n;
}
void pass_on(const OperatorEntry& called, const KernelBase&, DispatchKeySet keys, Stack& stack) {
  redispatch_boxed(called, keys & DispatchKeySet::full_after(Functionality::Profiler), stack);
}
}  // namespace

TEST_CASE("four threads call while blocks come and go") {
  constexpr int kBlocks = 1000;
  const RegistrationHandle base = Block()
                                      .def("race::stays(Tensor t) -> int")
                                      .impl("race::stays", DispatchKey::CPU, gives<1>)
                                      .impl("race::goes", DispatchKey::CPU, gives<1>)
                                      .commit();
  RegistrationHandle def = Block().def("race::goes(Tensor t) -> int").commit();
  const auto stays = op("race::stays").typed<Sig>();
  const auto goes = op("race::goes").typed<Sig>();
  def.undo();

  std::atomic<bool> stop{false};
  std::atomic<std::int64_t> calls{0}, errors{0}, wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      const IncludeDispatchKeyGuard profiled{i % 2 == 0 ? DispatchKeySet(Functionality::Profiler) : DispatchKeySet()};
      const TensorBase t = tensor();
      while (!stop.load(std::memory_order_relaxed)) {
        const std::int64_t a = stays.call(t);
        if (a != 1 && a != 2) ++wrong;
        Stack stack = {t};
        stays.call_boxed(stack);
        if (stack.size() != 1) ++wrong;
        try {
          if (goes.call(t) != 1) ++wrong;
        } catch (const Error& error) {
          if (std::string_view(error.what()).find("race::goes: it is no longer defined") != 0) ++wrong;
          ++errors;
        }
        (void)goes.schema();
        calls += 3;
      }
    });
  }
  for (int i = 0; i < kBlocks; ++i) {
    Block block;
    const std::int64_t two = 2;
    block.def("race::goes(Tensor t) -> int", i % 3);
    block.impl("race::stays", i % 2 == 0 ? DispatchKey::CPU : DispatchKey::CompositeExplicitAutograd,
               [two](const TensorBase&) { return two; });
    if (i % 4 == 0) block.fallback(DispatchKey::Profiler, pass_on);
    RegistrationHandle handle = block.commit();
    if (i % 16 == 0) (void)Dispatcher::singleton().ops();
    handle.undo();
  }
  while (calls.load() < 1000) std::this_thread::yield();
  stop = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong.load() == 0);
  CHECK(stays.call(tensor()) == 1);
}
