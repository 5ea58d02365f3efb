// The interpreter lock, held or released for a scope.
//
// CPython before 3.14 ends a thread that wants the lock when the interpreter has ended, by unwinding its stack through
// frames that cannot be left this way: destructors and catch blocks of C++. Such a thread waits here instead, until the
// process ends, as one does in CPython since.
#pragma once

#include <keyway/python/nanobind.h>

namespace keyway::inline v1::python {

// For a thread that the interpreter has ended, whose stack may be unwound no further.
[[noreturn]] void wait_for_the_end() noexcept;

class LockReleased {
 public:
  LockReleased() : state_(PyEval_SaveThread()) {}
  LockReleased(const LockReleased&) = delete;
  LockReleased& operator=(const LockReleased&) = delete;
  ~LockReleased() {
    try {
      PyEval_RestoreThread(state_);
    } catch (...) {
      wait_for_the_end();
    }
  }

 private:
  PyThreadState* state_;
};

// What the function gives, called without the lock.
template <typename Function>
auto unlocked(Function&& function) {
  const LockReleased released;
  return function();
}

// Whether the interpreter has begun to end, and in another thread than this: states of threads are gone then, and soon
// what makes new ones.
bool is_over_for_this_thread() noexcept;

// Of any thread, whether it holds the lock or not.
class LockHeld {
 public:
  LockHeld() {
    if (is_over_for_this_thread()) wait_for_the_end();
    try {
      state_ = PyGILState_Ensure();
    } catch (...) {
      wait_for_the_end();
    }
  }
  LockHeld(const LockHeld&) = delete;
  LockHeld& operator=(const LockHeld&) = delete;
  ~LockHeld() {
    if (PyGILState_Check() == 0) wait_for_the_end();
    PyGILState_Release(state_);
  }

 private:
  PyGILState_STATE state_;
};

}  // namespace keyway::inline v1::python
