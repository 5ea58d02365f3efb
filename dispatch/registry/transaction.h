// Transaction: one change of the registry. Internal to dispatch/; runs under the registry's lock.
//
// It has three steps: check everything and list all errors; build all that will be in force, beside what is; put it in
// force. The first two may throw and have changed nothing that is in force; the third cannot fail.
#pragma once

#include <keyway/core/schema/owned.h>
#include <keyway/dispatch/registry/registry.h>
#include <keyway/dispatch/registry/registry_notifications.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace keyway::inline v1 {

// What is left of a block that was taken back: nothing finds it any more, but calls may be under way in it.
struct UndoneBlock {
  InFlightCalls* in_flight = nullptr;
  std::vector<std::shared_ptr<void>> callables;
};

class Transaction {
 public:
  // Registers a library block. Returns its number. Throws keyway::Error(Registration) that lists every error. The last
  // reference to a callable is never given up here: its destructor may want the lock.
  static std::uint64_t commit(Registry& registry, const BlockRequest& request, RegistryNotifications& notifications);
  // Registers operators that bring constant tables (OpLibrary), permanently. Throws keyway::Error(Registration) that
  // lists every error.
  static void add(Registry& registry, const OpList& ops, RegistryNotifications& notifications);
  // Why no kernel can be registered to a key; empty if one can.
  static std::string problem_of(DispatchKey key);
  // The calls of a block's kernels; null if it stays or is undone. Throws keyway::Error(Registration) from inside one.
  static InFlightCalls* in_flight_from_outside(const Registry& registry, std::uint64_t block);
  // Takes a block back. Throws std::bad_alloc; keyway::Error(Registration) inside a call of one of its kernels.
  static UndoneBlock undo(Registry& registry, std::uint64_t block, RegistryNotifications& notifications);
  // Makes a block one that stays: calls of its kernels are no longer counted. Throws std::bad_alloc.
  static void release(Registry& registry, std::uint64_t block);

 private:
  // A definition of the block, checked.
  struct Definition {
    std::string name;  // empty: it has an error
    OwnedSchema schema;
    std::string code;
    std::string text;
    std::string tags;
    RegistrationSite site;
  };
  // What an operator will be.
  struct Change {
    OperatorState next;
    const OpInfo* info = nullptr;  // null: as it is
  };

  Transaction(Registry& registry, std::uint64_t block) : registry_(registry), block_(block) {}

  void error(std::string text) { errors_.push_back(std::move(text)); }
  void check(const BlockRequest& request);
  void check_namespaces(const std::vector<NamespaceRequest>& owns);
  void check_class(const ClassRequest& request, LibraryResources* library);
  void check_types(SchemaType type) const;                              // throws for a class that there is not
  intrusive_ptr<CustomClass> class_named(std::string_view name) const;  // null if there is none
  void check_objects(const std::string& op, FunctionSchema schema, ArrayRef<const std::type_info*> objects,
                     const RegistrationSite& site);
  void check_def(const DefRequest& def);
  const Definition* definition_of(const std::string& op) const;  // null if the block defines none
  void check_kernel(const std::string& op, const OwnedSchema& schema, const RegistrationSite& schema_site,
                    const std::string& code, ArrayRef<const std::type_info*> objects, const RegistrationSite& site);
  void check_impl(const ImplRequest& impl);
  void check_key(DispatchKey key, const std::string& what);
  void check_op(const OperatorEntry& op);
  void check_fallbacks(const std::vector<FallbackRequest>& fallbacks);
  [[noreturn]] void fail(const std::string& what) const;

  void prepare(const BlockRequest& request);
  void prepare_op(OperatorEntry& op);
  void prepare_undo();
  void prepare_release();
  Change& change(OperatorRecord& record);
  Fallbacks& change_fallbacks();
  void define(const Definition& definition);
  void build_tables();
  // What is to be told once it is in force.
  void collect_notifications();
  void warn_of_lost_gradients(const std::string& name, const OperatorState& next);
  void publish(OperatorEntry& op, const Table* table) { publications_.emplace_back(&op, registry_.published(table)); }

  void put_in_force() noexcept;

  Registry& registry_;
  const std::uint64_t block_;
  std::vector<std::string> errors_;
  std::map<std::string, Definition> definitions_;  // by name
  std::vector<intrusive_ptr<CustomClass>> classes_;
  CustomClassTable class_table_;  // the same

  std::map<OperatorRecord*, Change> changes_;
  std::unique_ptr<Fallbacks> fallbacks_;  // null: as they are
  std::vector<std::pair<OperatorEntry*, const Table*>> publications_;
  InFlightCalls* in_flight_ = nullptr;  // of the block's kernels; null: they stay
  UndoneBlock undone_;
  RegistryNotifications notifications_;
  std::vector<std::pair<Namespace*, RegistrationSite>> owned_;  // what the block will own, and where it says so
};

}  // namespace keyway::inline v1
