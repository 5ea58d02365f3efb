#include <keyway/dispatch/registry/op_library.h>
#include <keyway/dispatch/registry/pin_library.h>
#include <keyway/dispatch/registry/transaction.h>

namespace keyway::inline v1 {

OpLibrary::OpLibrary(const OpList& ops) {
  change_registry([&](Registry& registry, RegistryNotifications& notifications) {
    Transaction::add(registry, ops, notifications);
  });
  pin_library_of(ops.begin);
}

}  // namespace keyway::inline v1
