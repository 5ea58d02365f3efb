// Calls of Python functions from C++, where a thread that is ended in one waits: before anything of its frames in C++
// is let go, which it could not do without the interpreter lock.
#pragma once

#include <keyway/python/errors.h>
#include <keyway/python/interpreter_lock.h>
#include <keyway/python/nanobind.h>

#include <cstddef>

namespace keyway::inline v1::python {

// What the function returns; what it throws is thrown. `keywords`: a tuple of the names of the last values, or null.
inline nb::object call_python(nb::handle function, PyObject* const* values, std::size_t positional,
                              nb::handle keywords = {}) {
  PyObject* result = nullptr;
  try {
    result = PyObject_Vectorcall(function.ptr(), values, positional, keywords.ptr());
  } catch (...) {  // no exception of C++ comes through it
    wait_for_the_end();
  }
  return checked(result);
}

// Gives the Python error that is set to sys.unraisablehook.
inline void tell_unraisable() noexcept {
  try {
    PyErr_WriteUnraisable(nullptr);
  } catch (...) {  // as above
    wait_for_the_end();
  }
}

template <typename... Arguments>
nb::object call_function(nb::handle function, const Arguments&... arguments) {
  PyObject* const values[] = {arguments.ptr()...};
  return call_python(function, values, sizeof...(arguments));
}

}  // namespace keyway::inline v1::python
