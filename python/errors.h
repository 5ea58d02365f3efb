// Errors between the two languages: a keyway::Error becomes an exception of keyway.Error, or of one of its subclasses
// that is also Python's own of that kind; a Python exception that crosses C++ comes out as it was, with its traceback.
#pragma once

#include <nanobind/nanobind.h>

namespace keyway::inline v1::python {

// Makes the exception classes members of the module.
void add_errors(nanobind::module_& module);

// Sets the Python error that stands for the exception being handled. Requires: the interpreter lock is held, and a
// catch block is being run.
void set_python_error() noexcept;

// What a slot of a Python type does: calls `function`, and turns what it throws into a Python error.
template <typename Function>
auto guarded(Function&& function) noexcept -> decltype(function()) {
  try {
    return function();
  } catch (...) {
    set_python_error();
    if constexpr (std::is_pointer_v<decltype(function())>) {
      return nullptr;
    } else {
      return -1;
    }
  }
}

// Throws the Python error that a call of CPython's has set.
[[noreturn]] inline void rethrow_python_error() { throw nanobind::python_error(); }
// A new reference that CPython gave, checked.
inline nanobind::object checked(PyObject* object) {
  if (object == nullptr) rethrow_python_error();
  return nanobind::steal(object);
}

}  // namespace keyway::inline v1::python
