// The tables that the compiler has computed, against the resolver that runs now, and against the schemas.
#include <keyway/core/schema/schema.h>
#include <keyway/dispatch/call/boxed_call_info.h>
#include <keyway/dispatch/call/operator_entry.h>
#include <keyway/dispatch/call/signature.h>
#include <keyway/dispatch/registry/resolver.h>
#include <keyway/ops/attention_entries.h>
#include <keyway/tests/catch.h>

#include <algorithm>
#include <span>

using namespace keyway;

namespace {

std::span<OperatorEntry* const> builtin_ops() { return {kBuiltinOps.begin, kBuiltinOps.size}; }

// Number of the kernel that serves a slot, by the rules: 0 is the error of a missing one.
int resolved(const Table& table, DispatchKey slot) {
  const auto find = [&](DispatchKey key) {
    for (int i = 1; i < table.kernel_count; ++i) {
      if (table.info[i].key == key) return i;
    }
    return -1;
  };
  return std::max(resolve(slot, find, [](DispatchKey) { return false; }).registration, 0);
}

}  // namespace

TEST_CASE("every slot of every built-in table holds what the resolver says") {
  for (const OperatorEntry* op : builtin_ops()) {
    INFO(op->full_name());
    const Table& table = op->table();
    CHECK(table.op == op);
    int different = 0;
    for (int slot = 0; slot < kSlotCount; ++slot) {
      different += table.slots[slot] != resolved(table, static_cast<DispatchKey>(slot)) ? 1 : 0;
    }
    CHECK(different == 0);
  }
}

TEST_CASE("an operator has a kernel for a device where a call would end at one of its own") {
  constexpr auto kNobodys = static_cast<DeviceType>(kNumDeviceTypes - 1);
  CHECK(ops::_scaled_dot_product_attention_forward.has_kernel_for(kCPU));
  CHECK(ops::_scaled_dot_product_attention_forward.has_kernel_for(kMeta));
  CHECK_FALSE(ops::_scaled_dot_product_attention_forward.has_kernel_for(kNobodys));
  CHECK(ops::scaled_dot_product_attention.has_kernel_for(kNobodys));  // composed
}

TEST_CASE("the list of built-in operators is sorted by full name") {
  std::string last;
  for (const OperatorEntry* op : builtin_ops()) {
    CHECK(last < op->full_name());
    last = op->full_name();
  }
}

TEST_CASE("what is said of an operator is what its schema says") {
  for (const OperatorEntry* op : builtin_ops()) {
    INFO(op->full_name());
    const FunctionSchema& schema = op->schema();
    CHECK(op->info().signature == signature_hash_of(schema));
    const BoxedCallInfo expected = boxed_call_info_of(schema), shape = op->info().boxed;
    CHECK(shape.tensors == expected.tensors);
    CHECK(shape.has_results == expected.has_results);
    CHECK(shape.device == expected.device);
    CHECK(shape.arguments == expected.arguments);
    CHECK(op->info().line > 0);
  }
}
