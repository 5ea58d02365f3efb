// Operators with faults, and that a campaign finds and names them.
#include <keyway/dispatch/registry/library.h>
#include <keyway/ops/all.h>
#include <keyway/tests/backends/cuda/has_device.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/core/fake_device.h>
#include <keyway/tools/keyway/fuzz/campaign.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

using namespace keyway;
using namespace keyway::tools;

namespace {

// A fault shows in few calls, so that those before and after it are made too.
bool is_bad(const Tensor& self) { return self.defined() && self.is_cpu() && self.dim() == 0 && self.dtype() == kFloat; }

Tensor view_of(const Tensor& self) {
  KEYWAY_CHECK(self.defined(), "argument 'self' must be defined");
  return keyway::alias(self);
}

// Errors of typed kernels get the operator's name and arguments as they leave it, so that these faults take boxed ones.
void nameless(const OperatorEntry&, const KernelBase&, DispatchKeySet, Stack& stack) {
  const Tensor self(stack.back().to_tensor());
  if (is_bad(self)) {
    Error error(ErrorKind::Value, "argument 'self' is bad", __FILE__, __LINE__);
    error.leave_op("another");
    throw error;
  }
  stack.back() = IValue(view_of(self));
}
void vague(const OperatorEntry&, const KernelBase&, DispatchKeySet, Stack& stack) {
  const Tensor self(stack.back().to_tensor());
  KEYWAY_CHECK(!is_bad(self), "no good");
  stack.back() = IValue(view_of(self));
}

char* volatile kept = nullptr;

}  // namespace

KEYWAY_LIBRARY(faulty, m) {
  m.def("sound(Tensor self) -> Tensor", [](const Tensor& self) { return view_of(self); });
  m.def("crash(Tensor self) -> Tensor", [](const Tensor& self) {
    if (is_bad(self)) std::raise(SIGSEGV);
    return view_of(self);
  });
  m.def("hang(Tensor self) -> Tensor", [](const Tensor& self) {
    volatile bool forever = is_bad(self);
    while (forever) {
    }
    return view_of(self);
  });
  m.def("foreign(Tensor self) -> Tensor", [](const Tensor& self) {
    if (is_bad(self)) throw std::runtime_error("a silent one");
    return view_of(self);
  });
  m.def("nameless(Tensor self) -> Tensor").impl_boxed("nameless", nameless);
  m.def("vague(Tensor self) -> Tensor").impl_boxed("vague", vague);
  m.def("writes(Tensor self) -> Tensor", [](const Tensor& self) {
    if (is_bad(self)) *static_cast<float*>(self.data_ptr()) += 3;
    return view_of(self);
  });
  m.def("beyond(Tensor self) -> Tensor", [](const Tensor& self) {
    if (!is_bad(self)) return view_of(self);
    const std::int64_t sizes[] = {1000}, strides[] = {1};
    return Tensor(make_view(self, sizes, strides, 0));
  });
  m.def("leaks(Tensor self) -> Tensor", [](const Tensor& self) {
    if (is_bad(self)) {
      kept = static_cast<char*>(std::malloc(40));
      kept = nullptr;
    }
    return view_of(self);
  });
}

namespace {

struct Found {
  CampaignResult result;
  std::vector<Failure> failures;
};

Found run(const std::string& op, const BatchLimits& limits = {}) {
  CampaignOptions options;
  options.calls = 250;
  options.limits = limits;
  Found found;
  found.result =
      run_campaign(operators_like(op), options, [&](const Failure& failure) { found.failures.push_back(failure); });
  return found;
}

std::size_t count(const Found& found, Verdict verdict) {
  return found.result.counts[static_cast<std::size_t>(verdict)];
}

}  // namespace

TEST_CASE("an operator without a fault passes") {
  const Found found = run("faulty::sound");
  CHECK(found.result.operators == 1);
  CHECK(found.result.calls() == 250);
  for (const Failure& failure : found.failures) FAIL_CHECK(failure.call << ": " << failure.outcome.text);
  CHECK(count(found, Verdict::Returned) > 50);
  CHECK(count(found, Verdict::Refused) > 10);
}

TEST_CASE("each fault is found, named, and does not end the campaign") {
  const auto check = [](const char* op, Verdict verdict, const char* text, const BatchLimits& limits = {}) {
    INFO(op);
    const Found found = run(op, limits);
    CHECK(found.result.calls() == 250);
    REQUIRE_FALSE(found.failures.empty());
    CHECK(count(found, verdict) == found.failures.size());
    CHECK(found.result.failures() == found.failures.size());
    for (const Failure& failure : found.failures) {
      CHECK(failure.op == op);
      CHECK(failure.outcome.verdict == verdict);
      CHECK(failure.outcome.text.find(text) != std::string::npos);
      CHECK(failure.call.find(std::string(op) + "(self=") == 0);
      // The index alone makes the call again.
      CHECK(CallPlan(Dispatcher::singleton().op(op), 0).text(failure.index) == failure.call);
    }
    CHECK(count(found, Verdict::Returned) > 50);
  };
  check("faulty::crash", Verdict::Crash, "");
  check("faulty::hang", Verdict::Hang, "took too", {.seconds = 0.5});
  check("faulty::foreign", Verdict::ForeignException, "a silent one");
  check("faulty::nameless", Verdict::NoOperator, "another: argument 'self' is bad");
  check("faulty::vague", Verdict::NoArgument, "faulty::vague: no good");
  check("faulty::writes", Verdict::ArgumentChanged, "self changed: its elements");
  check("faulty::beyond", Verdict::WrongResult, "reaches over 4000 bytes of a storage of 4");
  if (!can_find_leaks()) return;
  const Found found = run("faulty::leaks");
  REQUIRE_FALSE(found.failures.empty());
  CHECK(found.failures[0].outcome.verdict == Verdict::Leak);
  CHECK(found.failures[0].call.find("faulty::leaks(self=float32[]") == 0);
}

TEST_CASE("a call that is repeated is judged in this process") {
  const Found found = run("faulty::vague");
  REQUIRE_FALSE(found.failures.empty());
  const OperatorHandle op = Dispatcher::singleton().op("faulty::vague");
  const Outcome outcome = repeat(op, CallPlan(op, 0), found.failures[0].index);
  CHECK(outcome.verdict == Verdict::NoArgument);
  CHECK(outcome.text == "faulty::vague: no good");
}

TEST_CASE("calls on a CUDA device are judged as those on the CPU are") {
  if (keyway::testing::lacks_device()) return;
  for (const char* const name : {"add.Tensor", "sum.dim_IntList", "floor_divide", "cat", "index_select"}) {
    const OperatorHandle op = Dispatcher::singleton().op(name);
    const CallPlan plan(op, 0);
    std::size_t returned = 0;
    for (std::size_t i = 0; i < 40; ++i) {
      const Outcome outcome = repeat(op, plan, i, DeviceType::CUDA);
      INFO(plan.text(i) << ": " << outcome.text);
      CHECK_FALSE(is_failure(outcome.verdict));
      returned += outcome.verdict == Verdict::Returned ? 1 : 0;
    }
    CHECK(returned > 0);
  }
}

TEST_CASE(
    "devices whose allocator keeps no memory are called too, and what a child cannot start is no crash of a call") {
  keyway::testing::FakeDevices devices(register_device_type("fuzzed"));
  keyway::testing::FakeAllocator allocator(devices);
  const DeviceGuardRegistration guard = register_device_guard(devices);
  set_allocator(devices.type(), &allocator);
  Library m(Library::Kind::Impl, "keyway", runtime_key(Functionality::Dense, devices.type()));
  m.impl("copy_", [](Tensor& self, const Tensor& src, bool) -> Tensor& {
    std::memcpy(self.data_ptr(), src.data_ptr(), src.nbytes());
    return self;
  });
  const RegistrationHandle copies = m.commit();
  CampaignOptions options;
  options.calls = 20;
  options.device = devices.type();
  std::vector<Failure> failures;
  const auto run_there = [&] {
    return run_campaign(operators_like("faulty::[sv][oa]*"), options, [&](const Failure& f) { failures.push_back(f); });
  };
  const CampaignResult result = run_there();
  CHECK(result.operators == 2);
  CHECK(result.calls() == 40);
  CHECK(failures.empty());
  CHECK(result.counts[static_cast<std::size_t>(Verdict::Returned)] > 10);
  devices.remove_all();
  CHECK(keyway::testing::error_of(run_there).find("a child process cannot use fuzzed devices: ") == 0);
  set_allocator(devices.type(), nullptr);
}

TEST_CASE("operators are chosen by a part of their name or a pattern") {
  const auto names = [](const char* pattern) {
    std::vector<std::string> list;
    for (const OperatorHandle& op : operators_like(pattern)) list.push_back(op.entry().short_name());
    return list;
  };
  CHECK(names("faulty::c") == std::vector<std::string>{"faulty::crash"});
  CHECK(names("add[._]*") == std::vector<std::string>{"add.Scalar", "add.Scalar_out", "add.Tensor", "add.out",
                                                      "add_.Scalar", "add_.Tensor"});
  CHECK(names("no such operator").empty());
}
