// OperatorEntry: one operator of the registry, that is one schema: defined again with another one, an operator gets
// another entry, so that who holds an entry can rely on its signature. Its address is its identity; it is never freed.
#pragma once

#include <keyway/core/schema/transform_rules.h>
#include <keyway/dispatch/call/boxed_call_info.h>
#include <keyway/dispatch/call/kernel.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace keyway::inline v1 {

struct BackendWrapper;
class OperatorEntry;
class OwnedSchema;

// What is known of an operator. Built-in ones are constants of the library.
struct OpInfo {
  std::string_view name = {};      // "keyway::add"
  std::string_view overload = {};  // "Tensor", or empty
  std::string_view schema = {};    // canonical text
  const char* file = "";           // where it was defined: the schema file of a generated operator
  int line = 0;
  std::uint64_t signature = 0;  // signature_hash of its canonical C++ type
  BoxedCallInfo boxed = {};     // boxed_call_info_of its schema
  std::uint8_t vmap = 0;        // vmap_rule and jvp_rule of core/schema/transform_rules.h
  std::uint8_t jvp = 0;
  const OperatorEntry* counterpart = nullptr;  // what these rules call
  std::uint64_t derived = 0;                   // arguments that a derivative is taken by: bit i for argument i
  std::string_view tags = {};                  // "core pointwise"
  std::string_view doc = {};
  std::string_view example = {};
  std::string_view saved = {};              // what autograd saves for backward, for people
  const BackendWrapper* wrapper = nullptr;  // what calls a backend's function in out style; null: no such serves it
  std::string_view served_too = {};         // the other overloads that such a function serves: "add_.Tensor add.out"
};

class KEYWAY_API OperatorEntry {
 public:
  constexpr OperatorEntry(const OpInfo& info, const Table& table) : table_(&table), info_(&info) {}
  OperatorEntry(const OperatorEntry&) = delete;
  OperatorEntry& operator=(const OperatorEntry&) = delete;

  // One acquire load: a plain mov. The table stays valid for ever; when the operator is no longer defined, it is one of
  // errors.
  const Table& table() const { return *table_.load(std::memory_order_acquire); }
  // The same, in one order with the counts of calls in flight (in_flight_calls.h).
  const Table& latest_table() const { return *table_.load(std::memory_order_seq_cst); }
  const OpInfo& info() const { return *info_.load(std::memory_order_acquire); }

  // "add.Tensor": what errors and `keyway show` call it. Operators of other namespaces keep theirs: "my::op".
  std::string short_name() const;
  // "keyway::add.Tensor".
  std::string full_name() const;
  bool has_tag(std::string_view tag) const;
  // Whether calls of dense tensors of that device end at a kernel of this operator, and not at an error or at a
  // fallback, which serves operators that nobody has written a kernel of.
  bool has_kernel_for(DeviceType device) const {
    const Table& now = table();
    const std::size_t kernel = now.find(DispatchKeySet(device) | DispatchKeySet(Functionality::Dense)).kernel;
    return kernel != 0 && (now.kernel(kernel).flags & kOfFallback) == 0;
  }
  // Parsed when first asked for.
  const FunctionSchema& schema() const;
  // The index in the schema of the argument of that name. Throws keyway::Error(Internal) if there is none.
  std::size_t position_of(std::string_view argument) const;

 private:
  friend class Transaction;  // the writers
  friend struct Registry;
  std::atomic<const Table*> table_;
  std::atomic<const OpInfo*> info_;  // where it was defined may change, never its schema
  mutable std::atomic<const OwnedSchema*> schema_{nullptr};
};

// The operators that are part of the library, sorted by full name: defined in the floor `assembly`, one of the places
// where linking runs against the floors (docs/architecture/building.md).
struct OpList {
  OperatorEntry* const* begin;
  std::size_t size;
};
extern KEYWAY_API const OpList kBuiltinOps;

}  // namespace keyway::inline v1
