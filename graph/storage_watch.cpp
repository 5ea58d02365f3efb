#include <keyway/core/base/fork_safe_mutex.h>
#include <keyway/core/tensor/storage_listener.h>
#include <keyway/graph/storage_watch.h>

#include <mutex>
#include <thread>
#include <unordered_map>

namespace keyway::inline v1::graph {
namespace {

// Times are numbers of watches: that of the one that began last. 0 is before all.
struct Use {
  std::thread::id thread;
  std::uint64_t time = 0;
};
struct History {
  Use made;
  Use last_write;
  Use write_before;  // the last one by another thread than that
};

struct Watched {
  std::unordered_map<const StorageImpl*, History> storages;
  std::uint64_t time = 0;
  int watches = 0;
};

constinit ForkSafeMutex mutex(LockOrder::Notes);
Watched& watched() {
  static Watched& all = *new Watched;
  return all;
}

void note_made_now(const StorageImpl& storage) {
  const std::lock_guard lock(mutex);
  watched().storages[&storage] = {{std::this_thread::get_id(), watched().time}, {}, {}};
}

void note_written_now(const StorageImpl& storage) {
  const std::lock_guard lock(mutex);
  History& history = watched().storages[&storage];
  const std::thread::id self = std::this_thread::get_id();
  if (history.last_write.thread != self) history.write_before = history.last_write;
  history.last_write = {self, watched().time};
}

constexpr StorageListener kListener = {note_made_now, note_written_now};

}  // namespace

StorageWatch::StorageWatch() {
  const std::lock_guard lock(mutex);
  begin_ = ++watched().time;
  if (++watched().watches == 1) storage_listener.store(&kListener, std::memory_order_release);
}

StorageWatch::~StorageWatch() {
  const std::lock_guard lock(mutex);
  if (--watched().watches > 0) return;
  storage_listener.store(nullptr, std::memory_order_release);
  watched().storages.clear();
}

StorageWatch::Elsewhere StorageWatch::elsewhere(const Storage& storage) const {
  const std::lock_guard lock(mutex);
  const auto found = watched().storages.find(storage.impl());
  if (found == watched().storages.end()) return {};
  const History& history = found->second;
  const std::thread::id self = std::this_thread::get_id();
  const Use& write = history.last_write.thread == self ? history.write_before : history.last_write;
  return {history.made.time >= begin_ && history.made.thread != self, write.time >= begin_};
}

}  // namespace keyway::inline v1::graph
