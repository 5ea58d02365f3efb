#include <keyway/tests/catch.h>
#include <keyway/tests/dispatch/block.h>
#include <keyway/tests/dispatch/builtin_ops.h>

#include <type_traits>

using namespace keyway;
using namespace keyway::testing;

namespace {
void passes_all_on(const OperatorEntry& op, const KernelBase&, DispatchKeySet keys, Stack& stack) {
  redispatch_boxed(op, keys & DispatchKeySet::full_after(Functionality::Profiler), stack);
}
}  // namespace

static_assert(std::is_trivially_destructible_v<OperatorEntry> && std::is_trivially_destructible_v<Table>);

TEST_CASE("the kernels of a static table lie where a table looks for them") {
  const Table& table = builtin_full_table;
  CHECK(reinterpret_cast<const char*>(&builtin_full_table.kernel_array[2]) ==
        reinterpret_cast<const char*>(&table.kernel(2)));
  CHECK(&Table::of(table.kernel(3)) == &table);
}

TEST_CASE("the compiler computes the table that the registry computes") {
  const RegistrationHandle def = Block()
                                     .def("twin::op(Tensor self) -> int")
                                     .impl("twin::op", DispatchKey::CompositeImplicitAutograd, counts_one)
                                     .impl("twin::op", DispatchKey::CPU, counts_one)
                                     .impl("twin::op", DispatchKey::Autograd, counts_one)
                                     .commit();
  const Table& built = op("twin::op").entry().table();
  const Table& constant = builtin_full_table;
  CHECK(built.mask == constant.mask);
  CHECK(built.backend_masks == nullptr);
  CHECK(constant.backend_masks == nullptr);
  REQUIRE(built.kernel_count == constant.kernel_count);
  for (int slot = 0; slot < kSlotCount; ++slot) {
    CHECK((built.slots[slot] == 0) == (constant.slots[slot] == 0));
    CHECK(built.info[built.slots[slot]].key == constant.info[constant.slots[slot]].key);
  }
}

TEST_CASE("a built-in operator is found, called, overridden, and its own table comes back") {
  const auto typed = op("builtin").typed<BuiltinSig>();
  const TensorBase cpu = tensor();
  CHECK(&op("keyway::builtin").entry() == &builtin_full);
  CHECK(&op("builtin.other").entry() == &builtin_overload);
  CHECK(typed.call(cpu) == 1);
  CHECK(typed.call(tensor(DeviceType::Meta)) == 3);
  CHECK(op("builtin.other").typed<BuiltinSig>().call(cpu) == 4);
  CHECK(typed.schema().name() == "builtin");
  {
    const RegistrationHandle over =
        Block().impl("keyway::builtin", DispatchKey::CPU, [](const TensorBase&) { return std::int64_t{7}; }).commit();
    CHECK(typed.call(cpu) == 7);
    CHECK(typed.call(tensor(DeviceType::Meta)) == 3);
  }
  CHECK(typed.call(cpu) == 1);
  CHECK(&builtin_full.table() == &builtin_full_table);
  {
    const RegistrationHandle fallback = Block().fallback(DispatchKey::Profiler, passes_all_on).commit();
    CHECK(&builtin_full.table() != &builtin_full_table);
    const IncludeDispatchKeyGuard profiled{DispatchKeySet(Functionality::Profiler)};
    CHECK(typed.call(cpu) == 1);
  }
  CHECK(&builtin_full.table() == &builtin_full_table);
}

TEST_CASE("a built-in operator cannot be defined again, nor its namespace owned") {
  const std::string again = error_of([] { (void)Block(3).def("keyway::builtin(Tensor self) -> int", 4).commit(); });
  CHECK(again ==
        "the library block at test.cpp:3 is not registered:\n"
        "  keyway::builtin is defined at ops.json:5 already (defined at test.cpp:4)");
  const std::string owned = error_of([] { (void)Block(3).owns("keyway").commit(); });
  CHECK(owned.find("namespace keyway is the library's own") != std::string::npos);
  const std::string misfit = error_of([] {
    (void)Block(3)
        .impl(
            "keyway::builtin", DispatchKey::CPU, [](std::int64_t) { return 1.0; }, 5)
        .commit();
  });
  CHECK(misfit ==
        "the library block at test.cpp:3 is not registered:\n"
        "  kernel of keyway::builtin at test.cpp:5 does not fit the schema at ops.json:5: argument 1, 'self', is "
        "std::int64_t, not const TensorBase&\n"
        "      schema  builtin(Tensor self) -> int  \n"
        "      kernel  builtin(int        ) -> float\n"
        "                      ^^^^^^^^^^^");
}
