#include <keyway/core/base/warning.h>
#include <keyway/dispatch/registry_news.h>

#include <exception>

namespace keyway::inline v1 {

NewsDesk& NewsDesk::get() {
  static NewsDesk& desk = *new NewsDesk;  // never destroyed: libraries may be unregistered at exit
  return desk;
}

void NewsDesk::tell(std::uint64_t listener, const RegistryNews::Change& change) {
  const auto at = listeners_.find(listener);
  if (at == listeners_.end()) return;  // gone meanwhile
  const OperatorListener listen = at->second;
  try {
    listen(OperatorHandle(*change.op), change.defined);
  } catch (const std::exception& error) {
    warn("a listener to operators threw when it heard of " + change.op->full_name() + ": " + error.what());
  }
}

void NewsDesk::tell(const RegistryNews& news) noexcept {
  try {
    if (listeners_.empty()) return;
    std::vector<std::uint64_t> present;
    for (const auto& [id, listener] : listeners_) present.push_back(id);
    for (const RegistryNews::Change& change : news.operators) {
      for (const std::uint64_t id : present) tell(id, change);
    }
  } catch (...) {  // out of memory, or a handler or listener that throws what is no std::exception
  }
}

void NewsDesk::warn_of(const RegistryNews& news) noexcept {
  try {
    for (const std::string& text : news.warnings) warn(text);
  } catch (...) {  // out of memory, or a handler that throws
  }
}

OperatorListening listen_to_operators(OperatorListener listener) {
  NewsDesk& desk = NewsDesk::get();
  const std::lock_guard order(desk.mutex);
  const std::uint64_t id = desk.next_++;
  desk.listeners_.emplace(id, std::move(listener));
  OperatorListening listening(id);
  for (const OperatorHandle& op : Dispatcher::singleton().ops()) desk.tell(id, {&op.entry(), true});
  return listening;
}

OperatorListening::~OperatorListening() {
  if (id_ == 0) return;
  NewsDesk& desk = NewsDesk::get();
  const std::lock_guard order(desk.mutex);
  desk.listeners_.erase(id_);
}

}  // namespace keyway::inline v1
