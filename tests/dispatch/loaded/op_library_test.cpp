#include <keyway/dispatch/inspect/explain.h>
#include <keyway/dispatch/registry/op_library.h>
#include <keyway/dispatch/registry/static_table.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/dispatch/block.h>

using namespace keyway;
using namespace keyway::testing;

namespace {

using Sig = std::int64_t(const TensorBase&);

template <std::int64_t n>
std::int64_t returns(const KernelBase&, DispatchKeySet, const TensorBase&) {
  return n;
}

constexpr OpInfo info(std::string_view name, std::string_view schema, int line) {
  return {.name = name,
          .overload = "",
          .schema = schema,
          .file = "my_ops.json",
          .line = line,
          .signature = signature_hash<Sig>,
          .boxed = kBoxedCallInfo<Sig>,
          .doc = "A doc."};
}
constexpr OpInfo kOne = info("loaded::one", "loaded::one(Tensor self) -> int", 3);
constexpr OpInfo kTwo = info("loaded::two", "loaded::two(Tensor self) -> int", 7);
constexpr OpInfo kThree = info("loaded::three", "loaded::three(Tensor self) -> int", 9);
constexpr KernelInfo kKernels[] = {{}, {DispatchKey::CPU, "cpu::op", "my_ops.json", 3}};

extern OperatorEntry one, two, three;
constinit const auto one_table = make_static_table<Sig>(one, kKernels, {{DispatchKey::CPU, returns<1>}});
constinit const auto two_table = make_static_table<Sig>(two, kKernels, {{DispatchKey::CPU, returns<2>}});
constinit const auto three_table = make_static_table<Sig>(three, kKernels, {{DispatchKey::CPU, returns<3>}});
constinit OperatorEntry one(kOne, one_table);
constinit OperatorEntry two(kTwo, two_table);
constinit OperatorEntry three(kThree, three_table);

// Each case may be the only one of its process, or one of several.
void load_one() {
  static OperatorEntry* const ops[] = {&one};
  static const OpLibrary library(OpList{ops, 1});
}

}  // namespace

TEST_CASE("operators with tables of their own are found, called and overridden, and their own kernel comes back") {
  load_one();
  const auto typed = op("loaded::one").typed<Sig>();
  CHECK(&typed.entry() == &one);
  CHECK(typed.entry().info().doc == "A doc.");
  CHECK(typed.call(tensor()) == 1);
  {
    const RegistrationHandle over =
        Block().impl("loaded::one", DispatchKey::CPU, [](const TensorBase&) { return std::int64_t{7}; }).commit();
    CHECK(typed.call(tensor()) == 7);
  }
  CHECK(typed.call(tensor()) == 1);
  CHECK(error_of([&] { typed.call(tensor(DeviceType::Meta)); }).find("loaded::one: it has no kernel for Meta") == 0);
}

TEST_CASE("kernels and fallbacks that came before an operator are in its table") {
  const RegistrationHandle early =
      Block().impl("loaded::two", DispatchKey::Meta, [](const TensorBase&) { return std::int64_t{20}; }).commit();
  static OperatorEntry* const ops[] = {&two};
  const OpLibrary library(OpList{ops, 1});
  CHECK(Dispatcher::singleton().dangling_impls().empty());
  const auto typed = op("loaded::two").typed<Sig>();
  CHECK(typed.call(tensor()) == 2);
  CHECK(typed.call(tensor(DeviceType::Meta)) == 20);
  // The fallback of library_macros_test.cpp.
  CHECK(explain_slot(OperatorHandle(two), DispatchKey::Functionalize).rule == ResolutionRule::Fallback);
}

TEST_CASE("a library of operators with an error makes none of them known") {
  load_one();
  const RegistrationHandle early = Block()
                                       .impl(
                                           "loaded::three", DispatchKey::CPU, [](const TensorBase&) { return 1.0; }, 4)
                                       .commit();
  static OperatorEntry* const ops[] = {&three, &one};
  const std::string text = error_of([] { OpLibrary(OpList{ops, 2}); });
  CHECK(text.starts_with("the operators of a library are not registered:\n"));
  CHECK(text.find("kernel of loaded::three at test.cpp:4 does not fit the schema at my_ops.json:9") !=
        std::string::npos);
  CHECK(text.find("loaded::one at my_ops.json:3 is defined at my_ops.json:3 already") != std::string::npos);
  CHECK(!Dispatcher::singleton().find_op("loaded::three"));
}
