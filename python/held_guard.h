// HeldGuard: a guard of C++ that a with block of Python holds.
#pragma once

#include <keyway/core/base/error.h>
#include <keyway/python/interpreter_lock.h>
#include <keyway/python/nanobind.h>

#include <memory>
#include <thread>
#include <utility>

namespace keyway::inline v1::python {

// What calls of functions go without the interpreter lock: those that may wait for a device, or load a backend.
using Unlocked = nb::call_guard<LockReleased>;

// It goes in the thread that made it; one whose block is never left stays, since no other thread could undo it.
template <typename Guard>
class HeldGuard {
 public:
  explicit HeldGuard(std::unique_ptr<Guard> guard) : guard_(std::move(guard)), thread_(std::this_thread::get_id()) {}
  HeldGuard(const HeldGuard&) = delete;
  HeldGuard& operator=(const HeldGuard&) = delete;
  ~HeldGuard() { (void)guard_.release(); }

  Guard& guard() const {
    KEYWAY_CHECK(guard_ != nullptr, "the block was left already");
    KEYWAY_CHECK(thread_ == std::this_thread::get_id(), "a block is left by the thread that entered it");
    return *guard_;
  }
  void exit() {
    (void)guard();
    guard_.reset();
  }

 private:
  std::unique_ptr<Guard> guard_;
  std::thread::id thread_;
};

}  // namespace keyway::inline v1::python
