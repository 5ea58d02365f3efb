// For ThreadSanitizer: calls go on while operators are defined, overridden, looked up and undone.
#include <keyway/dispatch/inspect/explain.h>
#include <keyway/tests/campaign.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/dispatch/block.h>

#include <atomic>
#include <thread>

using namespace keyway;
using namespace keyway::testing;

namespace {

using Sig = std::int64_t(const TensorBase&);

void pass_on(const OperatorEntry& called, const KernelBase&, DispatchKeySet keys, Stack& stack) {
  redispatch_boxed(called, keys & DispatchKeySet::full_after(Functionality::Profiler), stack);
}

// What the threads share. `wrong` counts what must not be.
struct Race {
  TypedOperatorHandle<Sig> stays, goes;
  std::atomic<bool> stop{false};
  std::atomic<std::int64_t> calls{0}, wrong{0};

  void check(bool right) { wrong += right ? 0 : 1; }
};

// Calls both operators, typed and boxed, of which one comes and goes, until it is told to stop.
void call(Race& race, bool profiled) {
  const IncludeDispatchKeyGuard include{profiled ? DispatchKeySet(Functionality::Profiler) : DispatchKeySet()};
  const TensorBase t = tensor();
  while (!race.stop.load(std::memory_order_relaxed)) {
    const std::int64_t result = race.stays.call(t);
    race.check(result == 1 || result == 2);
    Stack stack = {t};
    race.stays.call_boxed(stack);
    race.check(stack.size() == 1);
    try {
      race.check(race.goes.call(t) == 1);
    } catch (const Error& error) {
      race.check(std::string_view(error.what()).starts_with("race::goes: it is no longer defined"));
    }
    (void)race.goes.schema();
    race.calls += 3;
  }
}

// Registers and undoes `cycles` blocks of its own operator, overrides of the one that stays, and fallbacks of a key of
// its own; only one of two defines the operator that goes.
void register_and_undo(Race& race, std::int64_t cycles, bool first) {
  const std::string own = first ? "race::first" : "race::second";
  const DispatchKey fallback = first ? DispatchKey::Profiler : DispatchKey::Tracer;
  for (std::int64_t i = 0; i < cycles; ++i) {
    Block block;
    const std::int64_t two = 2;
    if (first) block.def("race::goes(Tensor t) -> int", static_cast<int>(i % 3));
    block.def(own + "(Tensor t) -> int").impl(own, DispatchKey::CPU, gives<3>);
    block.impl("race::stays", i % 2 == 0 ? DispatchKey::CPU : DispatchKey::CompositeExplicitAutograd,
               [two](const TensorBase&) { return two; });
    if (i % 64 == 0) block.fallback(fallback, pass_on);
    RegistrationHandle handle = block.commit();
    race.check(op(own).typed<Sig>().call(tensor()) == 3);
    race.check(explain(op(own), Stack{tensor()}).kernel.has_value());
    if (i % 64 == 0) (void)Dispatcher::singleton().ops();
    handle.undo();
    race.check(!Dispatcher::singleton().find_op(own));
  }
}

}  // namespace

TEST_CASE("eight threads call while two register, override, look up and undo") {
  const RegistrationHandle base = Block()
                                      .def("race::stays(Tensor t) -> int")
                                      .impl("race::stays", DispatchKey::CPU, gives<1>)
                                      .impl("race::goes", DispatchKey::CPU, gives<1>)
                                      .commit();
  RegistrationHandle def = Block().def("race::goes(Tensor t) -> int").commit();
  Race race{op("race::stays").typed<Sig>(), op("race::goes").typed<Sig>()};
  def.undo();
  const std::int64_t cycles =
      campaign(std::int64_t{1000}, std::int64_t{50});  // of each of two; by night 100,000 in all
  std::vector<std::thread> callers, registrars;
  for (int i = 0; i < 8; ++i) callers.emplace_back([&, i] { call(race, i % 2 == 0); });
  for (const bool first : {true, false})
    registrars.emplace_back([&, first] { register_and_undo(race, cycles, first); });
  for (std::thread& thread : registrars) thread.join();
  while (race.calls.load() < 1000) std::this_thread::yield();
  race.stop = true;
  for (std::thread& thread : callers) thread.join();
  CHECK(race.wrong.load() == 0);
  CHECK(race.stays.call(tensor()) == 1);
  CHECK(error_of([&] { race.goes.call(tensor()); }).starts_with("race::goes: it is no longer defined"));
}
