// Registry: all that is registered, and to what end. Internal to dispatch/; every member but the generation is guarded
// by the lock. Callers of operators never come here: they read the tables that are published from it.
//
// What is in force (OperatorState, fallbacks, namespaces) is replaced by a Transaction, as a whole and without a step
// that can fail. What is only remembered (records, entries, tables, infos, texts) is never freed, so that readers need
// no protection, and is used again when it is wanted again: registering and undoing the same for ever does not grow.
#pragma once

#include <keyway/core/base/fork_safe_mutex.h>
#include <keyway/dispatch/call/in_flight_calls.h>
#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/dispatch/registry/observer.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace keyway::inline v1 {

// One kernel that is in force or waits under a later one. The first ones of a built-in operator are its own (block 0).
struct Registration {
  DispatchKey key;
  ErasedKernel kernel;
  std::shared_ptr<void> callable;  // what the kernel's context points to, if it is counted
  std::string code;                // of its signature; empty if it is not to be checked
  std::string name;
  RegistrationSite site;
  std::uint64_t block = 0;                       // the library block that it came with
  InFlightCalls* in_flight = nullptr;            // null: it stays
  ArrayRef<const std::type_info*> objects = {};  // the C++ classes of its objects
};

// A fallback of one key, for all operators.
struct Fallback {
  ErasedKernel kernel;
  std::string name;
  RegistrationSite site;
  std::uint64_t block = 0;
  InFlightCalls* in_flight = nullptr;
};
using Fallbacks = std::array<std::optional<Fallback>, kSlotCount>;

// What is in force for an operator of one name.
struct OperatorState {
  OperatorEntry* entry = nullptr;           // of its schema; null while it is not defined
  std::uint64_t def_block = 0;              // the block that defined it; 0: built-in, or of an OpLibrary
  std::vector<Registration> registrations;  // in order of arrival: the latest of a key is in force

  // Number of the registration in force for a key, or -1.
  int find(DispatchKey key) const {
    for (std::size_t i = registrations.size(); i-- > 0;) {
      if (registrations[i].key == key) return static_cast<int>(i);
    }
    return -1;
  }
  // What serves a slot.
  Resolution resolve(DispatchKey slot, const Fallbacks& fallbacks) const {
    return keyway::resolve(
        slot, [&](DispatchKey key) { return find(key); },
        [&](DispatchKey key) {
          return fallbacks[static_cast<std::size_t>(key)].has_value() &&
                 (!is_of_writes(functionality_of(key)) || entry->schema().is_mutable());
        });
  }
};

// Every table that an operator ever had: equal ones are used again.
class TableSet {
 public:
  void add(const Table& table);
  // The table for an operator's registrations and the fallbacks in force. Throws keyway::Error for more kernels than a
  // table numbers. Requires: state.entry.
  const Table* build(const OperatorState& state, const Fallbacks& fallbacks);

 private:
  std::unordered_multimap<std::size_t, const Table*> tables_;  // by digest
};

struct OperatorRecord {
  OperatorState state;
  TableSet tables;
  bool was_defined = false;  // it is, or was before
};

struct Namespace {
  std::optional<RegistrationSite> owner;  // its KEYWAY_LIBRARY
  std::uint64_t block = 0;
};

// The latest last. Null while there is none.
using Observers = std::vector<std::shared_ptr<CallObserver>>;

struct Registry {
  ForkSafeMutex mutex{LockOrder::Registry, restart_in_child};
  std::map<std::string, OperatorRecord, std::less<>> operators;  // by full name; built-in ones once they are touched
  std::map<std::string, OperatorEntry*, std::less<>> entries;    // by canonical schema: all that there ever were
  std::map<std::string, Namespace, std::less<>> namespaces;
  std::map<std::uint64_t, std::vector<OperatorRecord*>> blocks;  // what each block that is in force changed
  Fallbacks fallbacks;
  std::uint64_t next_block = 1;
  std::atomic<std::uint64_t> generation{0};                   // of the definitions: how often some came or went
  std::map<std::uint64_t, InFlightCalls*> in_flight;          // of the blocks that can be undone
  std::vector<std::unique_ptr<InFlightCalls>> all_in_flight;  // never freed: calls may be about to count themselves in
  std::vector<InFlightCalls*> free_in_flight;
  std::map<const Table*, const Table*> observed_tables;  // from a table to its observed version; never erased
  ForkSafeMutex observers_mutex{LockOrder::Observers};   // of the pointer, which observed calls read
  std::shared_ptr<const Observers> observers;

  static Registry& get();
  // In a forked child: of calls that other threads were in, none is counted.
  static void restart_in_child();
  // Where a block's calls are counted, and back when nothing counts itself in there any more.
  InFlightCalls* take_in_flight();
  void give_back(InFlightCalls* calls) noexcept { free_in_flight.push_back(calls); }  // there is room for all
  // Null if there is no built-in operator of that name. Needs no lock.
  static OperatorEntry* find_builtin(std::string_view full_name);
  // An operator with a table of its own begins with the registrations that this was made from.
  static OperatorState state_of_static(OperatorEntry& op);
  // Those that are defined, by name, built-in ones too.
  std::vector<const OperatorEntry*> operators_in_order() const;
  // The operator in force; null if there is none.
  OperatorEntry* find(std::string_view full_name) const;
  // What is to be published for a table: itself, or while calls are observed one that calls the observers.
  const Table* published(const Table* table);
  // Publishes an operator's table anew, if it is in force. Throws std::bad_alloc.
  void publish(const OperatorEntry& op);
  // Publishes every operator's table anew, after observers came or went. Throws std::bad_alloc, and then none.
  void publish_all();
  // What is remembered under a name, made if there is nothing.
  OperatorRecord& record(const std::string& full_name);
};

// Whether settle_lost_gradient (lost_gradient.h) was called for an operator.
bool is_lost_gradient_settled(const OperatorEntry& op);

// What an operator has that is not defined: calls say so.
const Table& table_of_errors();

}  // namespace keyway::inline v1
