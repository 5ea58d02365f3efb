// HeldObject: a Python object that C++ holds and may let go of anywhere: on a thread without the interpreter lock, and
// after the interpreter is gone.
#pragma once

#include <keyway/python/interpreter_lock.h>
#include <keyway/python/nanobind.h>

#include <utility>

namespace keyway::inline v1::python {

class HeldObject {
 public:
  explicit HeldObject(nb::object object) : object_(std::move(object)) {}
  ~HeldObject() {
    if (Py_IsInitialized() == 0) {
      (void)object_.release();
    } else if (object_.is_valid()) {
      const LockHeld lock;
      object_.reset();
    }
  }
  HeldObject(HeldObject&&) noexcept = default;
  HeldObject& operator=(HeldObject&&) = delete;

  // Requires: the interpreter lock is held, to do more with it than to compare it.
  nb::handle get() const { return object_; }

 private:
  nb::object object_;
};

}  // namespace keyway::inline v1::python
