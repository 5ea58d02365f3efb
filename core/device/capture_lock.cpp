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

}  // namespace

CaptureLock::CaptureLock(Device device) : device_(device) {
  const std::thread::id here = std::this_thread::get_id();
  std::unique_lock lock(owners().mutex);
  for (const auto& [index, owner] : owners().all) {
    // Two threads that did so could wait for each other for ever.
    KEYWAY_CHECK(index == device.index() || owner.locks == 0 || owner.thread != here,
                 "this thread is still in a capture of cuda:{}: leave it before one of {} begins", index, device);
  }
  Owner& owner = owners().all[device.index()];
  owners().released.wait(lock, [&] { return owner.locks == 0 || owner.thread == here; });
  owner.thread = here;
  ++owner.locks;
}

CaptureLock::~CaptureLock() {
  const std::lock_guard lock(owners().mutex);
  if (--owners().all[device_.index()].locks == 0) owners().released.notify_all();
}

}  // namespace keyway::inline v1
