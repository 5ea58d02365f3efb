// Errors between the two languages: a keyway::Error becomes an exception of keyway.Error, or of one of its subclasses
// that is also Python's own of that kind; a Python exception that crosses C++ comes out as it was, with its traceback.
#pragma once

#include <keyway/python/nanobind.h>

#include <type_traits>

namespace keyway::inline v1::python {

// Sets the Python error that stands for the exception being handled. Requires: the interpreter lock is held, and a
// catch block is being run.
void set_python_error() noexcept;

// guarded<function>: a function as CPython calls it, as a slot of a type and the like: what it throws becomes a Python
// error. It may give an object for a new reference, and nothing for the 0 of success.
template <auto function>
struct Guarded;
template <typename Result, typename... Arguments, Result (*function)(Arguments...)>
struct Guarded<function> {
  using Given = std::conditional_t<std::is_void_v<Result>, int,
                                   std::conditional_t<std::is_same_v<Result, nb::object>, PyObject*, Result>>;
  static Given call(Arguments... arguments) noexcept {
    try {
      if constexpr (std::is_void_v<Result>) {
        function(arguments...);
        return 0;
      } else if constexpr (std::is_same_v<Result, nb::object>) {
        return function(arguments...).release().ptr();
      } else {
        return function(arguments...);
      }
    } catch (...) {
      set_python_error();
      if constexpr (std::is_pointer_v<Given>) {
        return nullptr;
      } else {
        return -1;
      }
    }
  }
};

template <auto function>
inline constexpr auto guarded = &Guarded<function>::call;

// Throws the Python error that a call of CPython's has set.
[[noreturn]] inline void rethrow_python_error() { throw nb::python_error(); }
// Throws an error of a class of Python's own.
[[noreturn]] inline void throw_python_error(PyObject* type, const char* text) {
  PyErr_SetString(type, text);
  rethrow_python_error();
}
// A new reference that CPython gave, checked.
inline nb::object checked(PyObject* object) {
  if (object == nullptr) rethrow_python_error();
  return nb::steal(object);
}
// The float that an object is or stands for.
inline double checked_double(PyObject* object) {
  const double number = PyFloat_AsDouble(object);
  if (number == -1 && PyErr_Occurred() != nullptr) rethrow_python_error();
  return number;
}

// What errors call the type of an object.
inline const char* class_name(nb::handle object) { return Py_TYPE(object.ptr())->tp_name; }

}  // namespace keyway::inline v1::python
