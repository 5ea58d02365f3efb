#include <keyway/dispatch/op_library.h>
#include <keyway/dispatch/transaction.h>

namespace keyway::inline v1 {

OpLibrary::OpLibrary(const OpList& ops) {
  NewsDesk& desk = NewsDesk::get();
  const std::lock_guard order(desk.mutex);
  RegistryNews news;
  {
    Registry& registry = Registry::get();
    const std::lock_guard lock(registry.mutex);
    Transaction::add(registry, ops, news);
  }
  desk.tell(news);
}

}  // namespace keyway::inline v1
