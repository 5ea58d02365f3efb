// SpinLock: for a few instructions that two threads hardly ever want at once; one byte, and no call while it is free.
#pragma once

#include <atomic>
#include <thread>

namespace keyway::inline v1 {

// What std::lock_guard needs. Not recursive.
class SpinLock {
 public:
  void lock() {
    while (held_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  }
  void unlock() { held_.clear(std::memory_order_release); }

 private:
  std::atomic_flag held_;
};

}  // namespace keyway::inline v1
