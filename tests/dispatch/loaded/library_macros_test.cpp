// The blocks below are registered before main, as those of a library are when it is loaded, and stay for good.
#include <keyway/core/keys/thread_state.h>
#include <keyway/dispatch/inspect/explain.h>
#include <keyway/dispatch/registry/library.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/dispatch/block.h>

using namespace keyway;
using namespace keyway::testing;

namespace {
int passed_on = 0;
void pass_on(const OperatorEntry& op, const KernelBase&, DispatchKeySet keys, Stack& stack) {
  ++passed_on;
  redispatch_boxed(op, keys & DispatchKeySet::full_after(Functionality::Functionalize), stack);
}
constexpr int kFirstLine = __LINE__ + 4;  // of the definition of numel
}  // namespace

KEYWAY_LIBRARY(macros, m) {
  m.def("numel(Tensor self, int times=1) -> int");
  m.def("twice(Tensor self) -> int", [](const TensorBase& self) { return 2 * self.numel(); });
}
KEYWAY_LIBRARY_FRAGMENT(macros, m) { m.def("macros::added(Tensor self) -> bool"); }
KEYWAY_LIBRARY_IMPL(macros, CPU, m) {
  m.impl("numel", [](const TensorBase& self, std::int64_t times) { return self.numel() * times; });
  m.impl("added", [](const TensorBase&) { return true; });
}
KEYWAY_LIBRARY_IMPL(macros, Meta, m) {
  m.impl("numel", [](const TensorBase&, std::int64_t) { return std::int64_t{-1}; });
}
KEYWAY_LIBRARY_IMPL(_, Functionalize, m) { m.fallback(pass_on); }
KEYWAY_LIBRARY_IMPL(_, Tracer, m) { m.fallback(Fallthrough{}); }

namespace {
using Numel = std::int64_t(const TensorBase&, std::int64_t);
using Count = std::int64_t(const TensorBase&);
}  // namespace

TEST_CASE("blocks of all macros are registered when main begins, and their kernels are called") {
  const auto numel = op("macros::numel").typed<Numel>();
  CHECK(numel.call(tensor(), 3) == 18);
  CHECK(numel.call(tensor(DeviceType::Meta), 3) == -1);
  CHECK(op("macros::twice").typed<Count>().call(tensor(DeviceType::Meta)) == 12);
  CHECK(op("macros::added").typed<bool(const TensorBase&)>().call(tensor()));
  CHECK(error_of([&] {
          op("macros::added").typed<bool(const TensorBase&)>().call(tensor(DeviceType::Meta));
        }).find("macros::added: it has no kernel for Meta") == 0);
}

TEST_CASE("a macro's definitions and kernels are known by file and line") {
  const OperatorHandle numel = op("macros::numel");
  CHECK(std::string_view(numel.entry().info().file).ends_with("library_macros_test.cpp"));
  CHECK(numel.entry().info().line == kFirstLine);
  const SlotContent slot = explain_slot(numel, DispatchKey::CPU);
  REQUIRE(slot.kernel);
  CHECK(slot.rule == ResolutionRule::Direct);
  CHECK(slot.kernel->site.file.ends_with("library_macros_test.cpp"));
  CHECK(slot.kernel->site.line == kFirstLine + 5);
}

TEST_CASE("a macro's fallback serves operators of every namespace") {
  const IncludeDispatchKeyGuard included{DispatchKeySet(Functionality::Functionalize) |
                                         DispatchKeySet(Functionality::Tracer)};
  const auto numel = op("macros::numel").typed<Numel>();
  passed_on = 0;
  CHECK(numel.call(tensor(), 2) == 12);
  CHECK(passed_on == 1);
  const RegistrationHandle other =
      Block()
          .def("macros_other::numel(Tensor self) -> int")
          .impl("macros_other::numel", DispatchKey::CPU, [](const TensorBase& self) { return self.numel(); })
          .commit();
  CHECK(op("macros_other::numel").typed<Count>().call(tensor()) == 6);
  CHECK(passed_on == 2);
}

TEST_CASE("what is registered over a macro's kernel goes, and the macro's serves again") {
  const auto numel = op("macros::numel").typed<Numel>();
  {
    const RegistrationHandle over =
        Block()
            .def("macros::later(Tensor self) -> int")
            .impl("macros::numel", DispatchKey::CPU, [](const TensorBase&, std::int64_t) { return std::int64_t{7}; })
            .commit();
    CHECK(numel.call(tensor(), 1) == 7);
    CHECK(Dispatcher::singleton().find_op("macros::later"));
  }
  CHECK(numel.call(tensor(), 1) == 6);
  CHECK(!Dispatcher::singleton().find_op("macros::later"));
}

TEST_CASE("a namespace of KEYWAY_LIBRARY and a key of its fallback are taken for good") {
  Library again(Library::Kind::Def, "macros");
  CHECK(error_of([&] { (void)again.commit(); }).find("namespace macros is owned by the KEYWAY_LIBRARY at ") !=
        std::string::npos);
  Library fallback(Library::Kind::Impl, "_", DispatchKey::Functionalize);
  fallback.fallback(pass_on);
  CHECK(error_of([&] { (void)fallback.commit(); }).find("second fallback for Functionalize at ") != std::string::npos);
}
