#include <keyway/dispatch/registry/code_for_good.h>
#include <keyway/dispatch/registry/op_library.h>
#include <keyway/dispatch/registry/transaction.h>

namespace keyway::inline v1 {

OpLibrary::OpLibrary(const OpList& ops) {
  change_registry([&](Registry& registry, RegistryNotifications& notifications) {
    Transaction::add(registry, ops, notifications);
  });
  keep_code(ops.begin);
}

}  // namespace keyway::inline v1
