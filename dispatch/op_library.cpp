#include <keyway/dispatch/code_for_good.h>
#include <keyway/dispatch/op_library.h>
#include <keyway/dispatch/transaction.h>

namespace keyway::inline v1 {

OpLibrary::OpLibrary(const OpList& ops) {
  change_registry([&](Registry& registry, RegistryNews& news) { Transaction::add(registry, ops, news); });
  keep_code(ops.begin);
}

}  // namespace keyway::inline v1
