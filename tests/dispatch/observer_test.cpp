// Observers: they see every kernel of every call, and nothing of them is left when they go.
#include <keyway/core/keys/thread_state.h>
#include <keyway/dispatch/inspect/trace.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/dispatch/block.h>
#include <keyway/tests/dispatch/failing_new.h>

#include <atomic>
#include <thread>

using namespace keyway;
using namespace keyway::testing;

namespace {

using Lines = std::vector<std::string>;

class Log : public CallObserver {
 public:
  explicit Log(Lines& lines, std::string name = "") : lines_(lines), name_(std::move(name)) {}
  void call(const ObservedCall& call) override {
    lines_.push_back(name_ + "> " + call.op.short_name() + " " + to_string(call.kernel.key));
    call.proceed();
    lines_.push_back(name_ + "< " + std::to_string(call.stack.size() - call.first));
  }

 private:
  Lines& lines_;
  std::string name_;
};

TensorBase passes_on(DispatchKeySet keys, const TensorBase& self) {
  return op("seen::op").typed<TensorBase(const TensorBase&)>().redispatch(keys & kAfterAutograd, self);
}

Block seen() {
  return Block()
      .def("seen::op(Tensor self) -> Tensor")
      .impl(
          "seen::op", DispatchKey::CPU, [](const TensorBase& self) { return self; }, 3)
      .impl("seen::op", DispatchKey::Autograd, passes_on, 4);
}

}  // namespace

TEST_CASE("an observer sees each key of a call, typed and boxed, until it goes") {
  const RegistrationHandle handle = seen().commit();
  const auto seen_op = op("seen::op").typed<TensorBase(const TensorBase&)>();
  const Table* before = &seen_op.entry().table();
  const TensorBase t = tensor();
  Lines lines;
  {
    const ObserverHandle observer = observe_calls(std::make_shared<Log>(lines));
    CHECK(&seen_op.entry().table() != before);
    const IncludeDispatchKeyGuard include(kAutogradKeys);
    CHECK(seen_op.call(t).is_same(t));
    CHECK(lines == Lines{"> seen::op Autograd", "> seen::op CPU", "< 1", "< 1"});
    lines.clear();
    Stack stack{t};
    seen_op.call_boxed(stack);
    CHECK(stack.at(0).to_tensor().is_same(t));
    CHECK(lines.size() == 4);
  }
  CHECK(&seen_op.entry().table() == before);
  lines.clear();
  seen_op.call(t);
  CHECK(lines.empty());
}

TEST_CASE("the latest observer is called first, and each may go on its own") {
  const RegistrationHandle handle = seen().commit();
  const auto seen_op = op("seen::op").typed<TensorBase(const TensorBase&)>();
  Lines lines;
  ObserverHandle a = observe_calls(std::make_shared<Log>(lines, "a"));
  ObserverHandle b = observe_calls(std::make_shared<Log>(lines, "b"));
  seen_op.call(tensor());
  CHECK(lines == Lines{"b> seen::op CPU", "a> seen::op CPU", "a< 1", "b< 1"});
  a.remove();
  lines.clear();
  seen_op.call(tensor());
  CHECK(lines == Lines{"b> seen::op CPU", "b< 1"});
}

TEST_CASE("what is registered and undone while calls are observed is observed, and is right afterwards") {
  Lines lines;
  RegistrationHandle def, second;
  {
    const ObserverHandle observer = observe_calls(std::make_shared<Log>(lines));
    def = seen().commit();
    second = Block()
                 .impl(
                     "seen::op", DispatchKey::CPU, [](const TensorBase&) { return TensorBase(); }, 5)
                 .commit();
    CHECK_FALSE(op("seen::op").typed<TensorBase(const TensorBase&)>().call(tensor()).defined());
    CHECK(lines.size() == 2);
  }
  const auto seen_op = op("seen::op").typed<TensorBase(const TensorBase&)>();
  CHECK_FALSE(seen_op.call(tensor()).defined());
  second.undo();
  CHECK(seen_op.call(tensor()).defined());
  CHECK(lines.size() == 2);
}

TEST_CASE("a missing kernel is observed, and its error passes") {
  const RegistrationHandle handle = seen().commit();
  const auto seen_op = op("seen::op").typed<TensorBase(const TensorBase&)>();
  const std::string plain = error_of([&] { seen_op.call(tensor(DeviceType::Meta)); });
  Lines lines;
  const ObserverHandle observer = observe_calls(std::make_shared<Log>(lines));
  CHECK(error_of([&] { seen_op.call(tensor(DeviceType::Meta)); }) == plain);
  CHECK(lines == Lines{"> seen::op Undefined"});
}

TEST_CASE("observers come and go while threads call") {
  const RegistrationHandle handle = seen().commit();
  const auto seen_op = op("seen::op").typed<TensorBase(const TensorBase&)>();
  class Count : public CallObserver {
   public:
    std::atomic<int> calls{0};
    void call(const ObservedCall& call) override {
      ++calls;
      call.proceed();
    }
  };
  const auto count = std::make_shared<Count>();
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      const TensorBase t = tensor();
      while (!stop) wrong += seen_op.call(t).is_same(t) ? 0 : 1;
    });
  }
  for (int i = 0; i < 200; ++i) {
    const ObserverHandle first = observe_calls(count);
    const ObserverHandle second = observe_calls(count);
  }
  const ObserverHandle last = observe_calls(count);
  const int before = count->calls;
  while (count->calls == before) std::this_thread::yield();
  stop = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("an observer whose coming or going runs out of memory is as it was") {
  const RegistrationHandle handle = seen().commit();
  const auto seen_op = op("seen::op").typed<TensorBase(const TensorBase&)>();
  Lines lines;
  const auto log = std::make_shared<Log>(lines);
  const auto is_observed = [&] {
    lines.clear();
    seen_op.call(tensor());
    return !lines.empty();
  };
  ObserverHandle observer;
  // Fails one allocation after another, until there is none left to fail.
  const auto fail_until_done = [&](auto&& step, bool observed_before) {
    for (int allocations = 0;; ++allocations) {
      try {
        allocations_left = allocations;
        step();
        allocations_left = -1;
        return allocations;
      } catch (const std::bad_alloc&) {
        allocations_left = -1;
        REQUIRE(is_observed() == observed_before);
      }
    }
  };
  CHECK(fail_until_done([&] { observer = observe_calls(log); }, false) > 1);
  CHECK(is_observed());
  CHECK(fail_until_done([&] { observer.remove(); }, true) > 1);
  CHECK_FALSE(is_observed());
}

TEST_CASE("the trace shows calls within calls, with the keys of their arguments") {
  const RegistrationHandle handle = seen().commit();
  Lines lines;
  const ObserverHandle trace = observe_calls(dispatch_trace([&](std::string_view line) { lines.emplace_back(line); }));
  const IncludeDispatchKeyGuard include(kAutogradKeys);
  op("seen::op").typed<TensorBase(const TensorBase&)>().call(tensor());
  CHECK(lines == Lines{"seen::op -> Autograd (test.cpp:4)  self {ADInplaceOrView, CPU}",
                       "  seen::op -> CPU (test.cpp:3)  self {ADInplaceOrView, CPU}"});
}
