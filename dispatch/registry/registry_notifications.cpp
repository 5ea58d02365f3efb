#include <keyway/dispatch/registry/registry_notifications.h>

#include <exception>
#include <new>
#include <utility>

namespace keyway::inline v1 {

constinit thread_local int DeferNotificationsGuard::depth_ = 0;

namespace {

void notify_one(const OperatorListener& listen, const RegistryNotifications::Change& change) noexcept {
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

Notifier& Notifier::get() {
  static NeverDestroyed<Notifier> notifier;  // libraries may be unregistered at exit
  return *notifier;
}

void Notifier::enqueue(const RegistryNotifications& notifications) noexcept {
  if (notifications.operators.empty()) return;
  const std::lock_guard lock(mutex_);
  try {
    for (const auto& [id, listener] : listeners_) {
      listener->pending.insert(listener->pending.end(), notifications.operators.begin(), notifications.operators.end());
    }
  } catch (const std::bad_alloc&) {
  }
}

// Null if all have heard everything, or run. Requires: the lock.
std::shared_ptr<Notifier::Listener> Notifier::next_pending() {
  for (const auto& [id, listener] : listeners_) {
    if (!listener->pending.empty() && listener->thread == std::thread::id()) return listener;
  }
  return nullptr;
}

void Notifier::deliver() noexcept {
  if (DeferNotificationsGuard::any()) return;
  std::unique_lock lock(mutex_);
  while (std::shared_ptr<Listener> listener = next_pending()) {
    const RegistryNotifications::Change change = listener->pending.front();
    listener->pending.pop_front();
    listener->thread = std::this_thread::get_id();
    lock.unlock();
    notify_one(listener->call, change);
    lock.lock();
    listener->thread = {};
    ++returned_;
    returned_.notify_all();
    if (listener.use_count() > 1) continue;
    lock.unlock();  // it has taken itself away, and its destructor may want what it likes
    listener = nullptr;
    lock.lock();
  }
}

std::uint64_t Notifier::add(OperatorListener listener) {
  auto added = std::make_shared<Listener>();
  added->call = std::move(listener);
  Registry& registry = Registry::get();
  const std::lock_guard no_change(registry.mutex);
  for (const OperatorEntry* op : registry.operators_in_order()) added->pending.push_back({op, true});
  const std::lock_guard lock(mutex_);
  listeners_.emplace(next_, std::move(added));
  return next_++;
}

void Notifier::remove(std::uint64_t id) {
  OperatorListener gone;  // after the lock
  std::unique_lock lock(mutex_);
  const auto at = listeners_.find(id);
  if (at == listeners_.end()) return;
  const std::shared_ptr<Listener> listener = std::move(at->second);
  listeners_.erase(at);
  listener->pending.clear();
  while (listener->thread != std::thread::id() && listener->thread != std::this_thread::get_id()) {
    const std::uint32_t before = returned_.load();
    lock.unlock();
    returned_.wait(before);
    lock.lock();
  }
  if (listener->thread == std::thread::id()) gone = std::move(listener->call);
}

// Listeners that ran in other threads run no more; what they were hearing is lost, what comes next is not.
void Notifier::restart_in_child() {
  Notifier& notifier = get();
  for (const auto& [id, listener] : notifier.listeners_) {
    if (listener->thread != std::this_thread::get_id()) listener->thread = {};
  }
}

OperatorListenerHandle listen_to_operators(OperatorListener listener) {
  OperatorListenerHandle listening(Notifier::get().add(std::move(listener)));
  Notifier::get().deliver();
  return listening;
}

OperatorListenerHandle::~OperatorListenerHandle() {
  if (id_ != 0) Notifier::get().remove(id_);
}

}  // namespace keyway::inline v1
