// Kernels that can go: undo waits for the calls that are under way in them, and nothing is called once it is back.
#include <keyway/dispatch/registry/observer.h>
#include <keyway/tests/campaign.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/dispatch/block.h>

#include <atomic>
#include <memory>
#include <set>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace keyway;
using namespace keyway::testing;

namespace {

using Sig = std::int64_t(const TensorBase&);

RegistrationHandle define() { return Block().def("in_flight::op(Tensor t) -> int").commit(); }

// A kernel whose callable owns memory: a call of it after its end is a use of freed memory.
struct Owning {
  std::shared_ptr<std::int64_t> value = std::make_shared<std::int64_t>(7);
  std::int64_t operator()(const TensorBase&) const { return *value; }
};

// A kernel that waits inside until it is let out.
struct Gate {
  std::atomic<int> inside{0};
  std::atomic<bool> open{false};
  std::int64_t pass() {
    ++inside;
    while (!open) std::this_thread::yield();
    --inside;
    return 1;
  }
};

TypedOperatorHandle<Sig> in_flight_op() { return op("in_flight::op").typed<Sig>(); }

// Whether new calls would find a kernel for the CPU.
bool has_kernel() { return in_flight_op().entry().table().slots[static_cast<std::size_t>(DispatchKey::CPU)] != 0; }

}  // namespace

TEST_CASE("undo waits for a call that is under way, typed, boxed or observed") {
  for (const int how : {0, 1, 2}) {
    const RegistrationHandle def = define();
    Gate gate;
    RegistrationHandle impl =
        Block().impl("in_flight::op", DispatchKey::CPU, [&gate](const TensorBase&) { return gate.pass(); }).commit();
    class Passes : public CallObserver {
      void call(const ObservedCall& call) override { call.proceed(); }
    };
    const ObserverHandle observer = how == 2 ? observe_calls(std::make_shared<Passes>()) : ObserverHandle();
    std::thread caller([&] {
      if (how == 1) {
        Stack stack{tensor()};
        op("in_flight::op").call_boxed(stack);
      } else {
        in_flight_op().call(tensor());
      }
    });
    while (gate.inside == 0) std::this_thread::yield();
    std::atomic<bool> undone{false};
    std::thread undoer([&] {
      impl.undo();
      CHECK(gate.inside == 0);
      undone = true;
    });
    // The kernel is gone for new calls while the old one goes on.
    while (has_kernel()) std::this_thread::yield();
    CHECK_FALSE(undone);
    CHECK(gate.inside == 1);
    gate.open = true;
    caller.join();
    undoer.join();
    CHECK(undone);
  }
}

TEST_CASE("a callable is destroyed when its block is undone") {
  const RegistrationHandle def = define();
  const Owning owning;
  std::weak_ptr<std::int64_t> value = owning.value;
  {
    RegistrationHandle impl = Block().impl("in_flight::op", DispatchKey::CPU, Owning(owning)).commit();
    CHECK(value.use_count() == 2);
    CHECK(in_flight_op().call(tensor()) == 7);
  }
  CHECK(value.use_count() == 1);
}

TEST_CASE("a block cannot be undone from inside a call of its kernel") {
  const RegistrationHandle def = define();
  RegistrationHandle impl;
  impl = Block()
             .impl("in_flight::op", DispatchKey::CPU,
                   [&impl](const TensorBase&) {
                     impl.undo();
                     return std::int64_t{1};
                   })
             .commit();
  CHECK(error_of([] {
          in_flight_op().call(tensor());
        }).starts_with("in_flight::op: a library block cannot be undone from inside a call of one of its kernels"));
  CHECK(error_of([] { in_flight_op().call(tensor()); }) != "");  // it is still there
  impl.undo();
  CHECK(error_of([] { in_flight_op().call(tensor()); }).starts_with("in_flight::op: it has no kernel for CPU"));
}

TEST_CASE("the same registered and undone again and again has the same tables") {
  const RegistrationHandle def = define();
  std::set<const Table*> tables;
  for (int i = 0; i < 50; ++i) {
    const RegistrationHandle impl =
        Block().impl("in_flight::op", DispatchKey::CPU, [](const TensorBase&) { return std::int64_t{2}; }).commit();
    tables.insert(&in_flight_op().entry().table());
  }
  CHECK(tables.size() == 1);
}

TEST_CASE("kernels that own memory come and go while eight threads call") {
  const RegistrationHandle def = define();
  const RegistrationHandle base =
      Block().impl("in_flight::op", DispatchKey::CPU, [](const TensorBase&) { return std::int64_t{1}; }).commit();
  std::atomic<bool> stop{false};
  std::atomic<std::int64_t> wrong{0}, owned{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 8; ++i) {
    callers.emplace_back([&, i] {
      const auto handle = in_flight_op();
      const TensorBase t = tensor();
      while (!stop) {
        std::int64_t result = 0;
        if (i % 2 == 0) {
          result = handle.call(t);
        } else {
          Stack stack{t};
          handle.call_boxed(stack);
          result = stack.at(0).to_int();
        }
        owned += result == 7 ? 1 : 0;
        wrong += result == 1 || result == 7 ? 0 : 1;
      }
    });
  }
  const int cycles = campaign(1000, 100);
  for (int i = 0; i < cycles; ++i) {
    RegistrationHandle impl = Block().impl("in_flight::op", DispatchKey::CPU, Owning()).commit();
    if (i % 50 == 0) std::this_thread::yield();
  }
  {
    const RegistrationHandle impl = Block().impl("in_flight::op", DispatchKey::CPU, Owning()).commit();
    const std::int64_t before = owned;
    while (owned == before) std::this_thread::yield();
  }
  stop = true;
  for (std::thread& caller : callers) caller.join();
  CHECK(wrong == 0);
}

#if !defined(KEYWAY_SANITIZED)
TEST_CASE("a forked child does not wait for calls of threads that it does not have") {
  const RegistrationHandle def = define();
  Gate gate;
  RegistrationHandle impl =
      Block().impl("in_flight::op", DispatchKey::CPU, [&gate](const TensorBase&) { return gate.pass(); }).commit();
  std::thread caller([] { in_flight_op().call(tensor()); });
  while (gate.inside == 0) std::this_thread::yield();
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    impl.undo();
    _exit(0);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
  gate.open = true;
  caller.join();
}
#endif
