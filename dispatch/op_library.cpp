#include <keyway/dispatch/op_library.h>
#include <keyway/dispatch/transaction.h>

namespace keyway::inline v1 {

OpLibrary::OpLibrary(const OpList& ops) {
  Registry& registry = Registry::get();
  const std::lock_guard lock(registry.mutex);
  Transaction::add(registry, ops);
}

}  // namespace keyway::inline v1
