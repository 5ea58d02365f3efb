// explain and what_if: each answer is what calls do.
#include <keyway/core/keys/thread_state.h>
#include <keyway/dispatch/inspect/explain.h>
#include <keyway/tests/campaign.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/dispatch/block.h>

#include <nlohmann/json.hpp>
#include <random>

using namespace keyway;
using namespace keyway::testing;

namespace {

int called = 0;  // line of the kernel that ran last

auto kernel(int line) {
  return [line](const TensorBase&, const TensorBase&) {
    called = line;
    return std::int64_t{0};
  };
}

constexpr DispatchKey kKeys[] = {DispatchKey::CPU,
                                 DispatchKey::Meta,
                                 DispatchKey::CUDA,
                                 DispatchKey::SparseCPU,
                                 DispatchKey::QuantizedCUDA,
                                 DispatchKey::BackendSelect,
                                 DispatchKey::ADInplaceOrView,
                                 DispatchKey::AutogradCPU,
                                 DispatchKey::AutogradMeta,
                                 DispatchKey::Tracer,
                                 DispatchKey::AutocastCPU,
                                 DispatchKey::Batched,
                                 DispatchKey::Profiler,
                                 DispatchKey::Autograd,
                                 DispatchKey::CompositeExplicitAutograd,
                                 DispatchKey::CompositeImplicitAutograd};

DispatchKey random_key(std::mt19937& random) { return kKeys[random() % std::size(kKeys)]; }

DispatchKeySet random_keys(std::mt19937& random, unsigned most) {
  DispatchKeySet keys;
  for (unsigned n = random() % (most + 1); n > 0; --n) keys = keys.add(random_key(random));
  return keys;
}

auto tensor_kernel(int line) {
  return [line](const TensorBase&, const TensorBase&) {
    called = line;
    return TensorBase();
  };
}

// An operator with kernels at random, some of them twice, some fallthroughs; the line of a kernel tells it. Where the
// result is a tensor, it may lose a gradient.
Block random_block(std::mt19937& random) {
  Block block;
  const bool gives_tensor = random() % 2 == 0;
  block.def(gives_tensor ? "why::op(Tensor? a, Tensor? b) -> Tensor" : "why::op(Tensor? a, Tensor? b) -> int");
  const int count = static_cast<int>(random() % 6);
  for (int line = 1; line <= count; ++line) {
    if (random() % 5 == 0) {
      block.impl("why::op", random_key(random), Fallthrough{}, line);
    } else if (gives_tensor) {
      block.impl("why::op", random_key(random), tensor_kernel(line), line);
    } else {
      block.impl("why::op", random_key(random), kernel(line), line);
    }
  }
  return block;
}

TensorBase random_tensor(std::mt19937& random) {
  switch (random() % 3) {
    case 0: return {};
    case 1: return tensor(DeviceType::Meta);
    default: return tensor();
  }
}

std::vector<SlotContent> all_slots(const OperatorHandle& op) {
  std::vector<SlotContent> all;
  for (int slot = 0; slot < kSlotCount; ++slot) all.push_back(explain_slot(op, static_cast<DispatchKey>(slot)));
  return all;
}

}  // namespace

TEST_CASE("the explained kernel is the one that is called") {
  const Quiet quiet;
  std::mt19937 random(7);
  std::size_t served = 0, refused = 0;
  const std::size_t cases = campaign(10000);
  for (std::size_t i = 0; i < cases; ++i) {
    const RegistrationHandle handle = random_block(random).commit();
    const OperatorHandle why = op("why::op");
    const IncludeDispatchKeyGuard include(random_keys(random, 3));
    const ExcludeDispatchKeyGuard exclude(random_keys(random, 2));
    Stack stack{random_tensor(random), random_tensor(random)};
    const Explanation explanation = explain(why, stack);
    INFO("case " << i << "\n" << to_string(explanation));
    called = 0;
    std::string error;
    try {
      why.call_boxed(stack);
    } catch (const Error& e) {
      error = e.what();
    }
    if (explanation.kernel) {
      ++served;
      REQUIRE(error == "");
      REQUIRE(called == explanation.kernel->site.line);
    } else {
      ++refused;
      REQUIRE(error != "");
      REQUIRE(called == 0);
    }
    REQUIRE_FALSE(to_string(explanation).empty());
  }
  CHECK(served > cases / 5);
  CHECK(refused > cases / 5);
}

TEST_CASE("what a registration would change is what it changes") {
  const Quiet quiet;
  std::mt19937 random(11);
  std::size_t changed = 0;
  const std::size_t cases = campaign(2000);
  for (std::size_t i = 0; i < cases; ++i) {
    const RegistrationHandle handle = random_block(random).commit();
    const OperatorHandle why = op("why::op");
    const DispatchKey key = random_key(random);
    const std::vector<SlotContent> before = all_slots(why);
    const std::vector<SlotChange> foreseen = what_if(why, key, "", {"test.cpp", 99});
    REQUIRE(all_slots(why) == before);
    Block later;
    if (why.schema().returns()[0].type().is(TypeKind::Tensor)) {
      later.impl("why::op", key, tensor_kernel(99), 99);
    } else {
      later.impl("why::op", key, kernel(99), 99);
    }
    const RegistrationHandle more = later.commit();
    const std::vector<SlotContent> after = all_slots(why);
    std::size_t next = 0;
    for (std::size_t slot = 0; slot < before.size(); ++slot) {
      if (before[slot] == after[slot]) continue;
      INFO("case " << i << ", " << to_string(static_cast<DispatchKey>(slot)));
      REQUIRE(next < foreseen.size());
      REQUIRE(foreseen[next].key == static_cast<DispatchKey>(slot));
      REQUIRE(foreseen[next].before == before[slot]);
      REQUIRE(foreseen[next].after == after[slot]);
      ++next;
    }
    REQUIRE(next == foreseen.size());
    changed += next;
  }
  CHECK(changed > 1000);
  const RegistrationHandle handle = Block().def("why::op(Tensor? a, Tensor? b) -> int").commit();
  CHECK(error_of([] { (void)what_if(op("why::op"), DispatchKey::Undefined); }) ==
        "kernel of why::op: Undefined is served by composites only");
}

TEST_CASE("an explanation says what was passed, what serves, and why the others do not") {
  const RegistrationHandle handle = Block()
                                        .def("why::op(Tensor? a, Tensor? b) -> int")
                                        .impl("why::op", DispatchKey::CPU, kernel(1), 1)
                                        .impl("why::op", DispatchKey::CPU, kernel(2), 2)
                                        .impl("why::op", DispatchKey::CompositeImplicitAutograd, kernel(3), 3)
                                        .impl("why::op", DispatchKey::Meta, kernel(4), 4)
                                        .impl("why::op", DispatchKey::Tracer, Fallthrough{}, 5)
                                        .impl("why::op", DispatchKey::Profiler, kernel(6), 6)
                                        .commit();
  const IncludeDispatchKeyGuard include(
      DispatchKeySet{DispatchKey::Tracer, DispatchKey::Profiler, DispatchKey::Autograd});
  const ExcludeDispatchKeyGuard exclude(DispatchKeySet{DispatchKey::Profiler});
  const Explanation explanation = explain(op("why::op"), Stack{tensor(), IValue(TensorBase())});
  CHECK(
      to_string(explanation) ==
      "why::op\n"
      "  argument a                 {ADInplaceOrView, CPU}\n"
      "  the thread includes        {Profiler, Tracer, Autograd}\n"
      "  the thread excludes        {Profiler}\n"
      "  asked for                  {Tracer, AutogradCPU, ADInplaceOrView, CPU}\n"
      "  passes                     Profiler: the thread excludes it\n"
      "  passes                     Tracer: a fallthrough is registered at test.cpp:5\n"
      "  passes                     AutogradCPU: it has no kernel there and falls through: the kernel for CPU at "
      "test.cpp:2 takes the composite's gradient away: it needs an Autograd kernel\n"
      "  passes                     ADInplaceOrView: it has no kernel there and falls through\n"
      "  ends at                    CPU\n"
      "  rule                       direct kernel\n"
      "  calls                      CPU (test.cpp:2)\n"
      "  not                        CPU (test.cpp:1): overridden at test.cpp:2\n"
      "  not                        CompositeImplicitAutograd (test.cpp:3): the kernel of that very key at test.cpp:2 "
      "comes first\n"
      "  not                        Meta (test.cpp:4): it serves Meta, the call ends at CPU\n"
      "  not                        Tracer (test.cpp:5): it serves Tracer, the call ends at CPU\n"
      "  not                        Profiler (test.cpp:6): it serves Profiler, the call ends at CPU\n");
  const nlohmann::json json = nlohmann::json::parse(to_json(explanation));
  CHECK(json.at("op") == "why::op");
  CHECK(json.at("arguments").at(0).at("name") == "a");
  CHECK(json.at("asked") == nlohmann::json({"Tracer", "AutogradCPU", "ADInplaceOrView", "CPU"}));
  CHECK(json.at("key") == "CPU");
  CHECK(json.at("kernel").at("line") == 2);
  CHECK(json.at("passed").size() == 4);
  CHECK(json.at("others").size() == 5);
}

TEST_CASE("a composite that lost its gradient to a kernel is told so") {
  const RegistrationHandle handle = Block()
                                        .def("why::op(Tensor? a, Tensor? b) -> int")
                                        .impl("why::op", DispatchKey::CompositeImplicitAutograd, kernel(1), 1)
                                        .impl("why::op", DispatchKey::CPU, kernel(2), 2)
                                        .commit();
  const Explanation explanation = explain(op("why::op"), {DispatchKey::AutogradCPU, DispatchKey::CPU});
  CHECK(explanation.key == DispatchKey::CPU);
  REQUIRE(explanation.passed.size() == 1);
  CHECK(
      explanation.passed[0].why ==
      "it has no kernel there and falls through: the kernel for CPU at test.cpp:2 takes the composite's gradient away: "
      "it needs an Autograd kernel");
  CHECK(explain_slot(op("why::op"), DispatchKey::AutogradCPU).rule == ResolutionRule::Fallthrough);
  CHECK(explain_slot(op("why::op"), DispatchKey::AutogradMeta).rule == ResolutionRule::CompositeImplicit);
}

TEST_CASE("too few arguments are refused, and an operator that is gone is explained as missing") {
  RegistrationHandle handle = Block().def("why::op(Tensor? a, Tensor? b) -> int").commit();
  const OperatorHandle why = op("why::op");
  CHECK(error_of([&] { (void)explain(why, Stack{tensor()}); }) == "why::op takes 2 arguments, but 1 are on the stack");
  handle.undo();
  const Explanation gone = explain(why, Stack{tensor(), tensor()});
  CHECK(gone.rule == ResolutionRule::Missing);
  CHECK_FALSE(gone.kernel);
}
