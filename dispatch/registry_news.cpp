#include <keyway/dispatch/registry_news.h>

#include <exception>
#include <new>
#include <utility>

namespace keyway::inline v1 {

constinit thread_local int HeldNews::depth_ = 0;

namespace {

void tell_one(const OperatorListener& listen, const RegistryNews::Change& change) noexcept {
  try {
    try {
      listen(OperatorHandle(*change.op), change.defined);
    } catch (const std::exception& error) {
      warn("a listener to operators threw when it heard of " + change.op->full_name() + ": " + error.what());
    }
  } catch (...) {  // out of memory, or a handler or listener that throws what is no std::exception
  }
}

}  // namespace

NewsDesk& NewsDesk::get() {
  static NewsDesk& desk = *new NewsDesk;  // never destroyed: libraries may be unregistered at exit
  return desk;
}

void NewsDesk::post(const RegistryNews& news) noexcept {
  if (news.operators.empty()) return;
  const std::lock_guard lock(mutex_);
  try {
    for (const auto& [id, listener] : listeners_) {
      listener->unheard.insert(listener->unheard.end(), news.operators.begin(), news.operators.end());
    }
  } catch (const std::bad_alloc&) {
  }
}

// Null if all have heard everything, or run. Requires: the lock.
std::shared_ptr<NewsDesk::Listener> NewsDesk::next_to_hear() {
  for (const auto& [id, listener] : listeners_) {
    if (!listener->unheard.empty() && listener->teller == std::thread::id()) return listener;
  }
  return nullptr;
}

void NewsDesk::tell() noexcept {
  if (HeldNews::any()) return;
  std::unique_lock lock(mutex_);
  while (std::shared_ptr<Listener> listener = next_to_hear()) {
    const RegistryNews::Change change = listener->unheard.front();
    listener->unheard.pop_front();
    listener->teller = std::this_thread::get_id();
    lock.unlock();
    tell_one(listener->call, change);
    lock.lock();
    listener->teller = {};
    ++heard_;
    heard_.notify_all();
    if (listener.use_count() > 1) continue;
    lock.unlock();  // it has taken itself away, and its destructor may want what it likes
    listener = nullptr;
    lock.lock();
  }
}

std::uint64_t NewsDesk::add(OperatorListener listener) {
  auto added = std::make_shared<Listener>();
  added->call = std::move(listener);
  Registry& registry = Registry::get();
  const std::lock_guard no_change(registry.mutex);
  for (const OperatorEntry* op : registry.operators_in_order()) added->unheard.push_back({op, true});
  const std::lock_guard lock(mutex_);
  listeners_.emplace(next_, std::move(added));
  return next_++;
}

void NewsDesk::remove(std::uint64_t id) {
  OperatorListener gone;  // after the lock
  std::unique_lock lock(mutex_);
  const auto at = listeners_.find(id);
  if (at == listeners_.end()) return;
  const std::shared_ptr<Listener> listener = std::move(at->second);
  listeners_.erase(at);
  listener->unheard.clear();
  while (listener->teller != std::thread::id() && listener->teller != std::this_thread::get_id()) {
    const std::uint32_t before = heard_.load();
    lock.unlock();
    heard_.wait(before);
    lock.lock();
  }
  if (listener->teller == std::thread::id()) gone = std::move(listener->call);
}

// Listeners that ran in other threads run no more; what they were hearing is lost, what comes next is not.
void NewsDesk::restart_in_child() {
  NewsDesk& desk = get();
  for (const auto& [id, listener] : desk.listeners_) {
    if (listener->teller != std::this_thread::get_id()) listener->teller = {};
  }
}

OperatorListening listen_to_operators(OperatorListener listener) {
  OperatorListening listening(NewsDesk::get().add(std::move(listener)));
  NewsDesk::get().tell();
  return listening;
}

OperatorListening::~OperatorListening() {
  if (id_ != 0) NewsDesk::get().remove(id_);
}

}  // namespace keyway::inline v1
