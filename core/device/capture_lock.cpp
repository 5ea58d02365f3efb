#include <keyway/core/base/error.h>
#include <keyway/core/device/capture_lock.h>

#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

namespace keyway::inline v1 {

namespace {

struct Owner {
  std::thread::id thread;
  int locks = 0;  // 0: there is none
};

// Not a mutex of the standard library for each device: these have to be unlocked by the thread that locked them.
struct Owners {
  std::mutex mutex;
  std::condition_variable released;
  std::map<int, Owner> all;  // by the index of the device
};

Owners& owners() {
  static Owners& all = *new Owners;
  return all;
}

bool is_free(const Owner& owner) { return owner.locks == 0 || owner.thread == std::this_thread::get_id(); }

void take(Owner& owner) {
  owner.thread = std::this_thread::get_id();
  ++owner.locks;
}

// The index of another device that this thread is in a capture of; -1 if there is none.
int other_device(Device device) {
  for (const auto& [index, owner] : owners().all) {
    if (index != device.index() && owner.locks > 0 && owner.thread == std::this_thread::get_id()) return index;
  }
  return -1;
}

}  // namespace

CaptureLock::CaptureLock(Device device) : device_(device) {
  std::unique_lock lock(owners().mutex);
  const int other = other_device(device);
  // Two threads that did so could wait for each other for ever.
  KEYWAY_CHECK(other < 0, "this thread is still in a capture of cuda:{}: leave it before one of {} begins", other,
               device);
  Owner& owner = owners().all[device.index()];
  owners().released.wait(lock, [&] { return is_free(owner); });
  take(owner);
}

CaptureLock::CaptureLock(Device device, std::try_to_lock_t) : device_(device) {
  const std::lock_guard lock(owners().mutex);
  Owner& owner = owners().all[device.index()];
  is_held_ = is_free(owner) && other_device(device) < 0;
  if (is_held_) take(owner);
}

CaptureLock::~CaptureLock() {
  if (!is_held_) return;
  const std::lock_guard lock(owners().mutex);
  if (--owners().all[device_.index()].locks == 0) owners().released.notify_all();
}

}  // namespace keyway::inline v1
