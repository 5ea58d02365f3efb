// Calls operators as methods of Tensor and as functions from C++, by names that are looked up once.
#pragma once

#include <keyway/python/errors.h>
#include <keyway/python/nanobind.h>
#include <keyway/python/tensor_object.h>

#include <cstddef>

namespace keyway::inline v1::python {

template <std::size_t size>
struct MethodName {
  char text[size];
  constexpr MethodName(const char (&from)[size]) {  // NOLINT
    for (std::size_t i = 0; i < size; ++i) text[i] = from[i];
  }
};

// The function of a method, for the length of the program. Throws nb::python_error if there is none.
template <MethodName name>
PyObject* tensor_method() {
  static PyObject* const found =
      checked(PyObject_GetAttrString(reinterpret_cast<PyObject*>(tensor_class), name.text)).release().ptr();
  return found;
}

// The same of a function of the module.
template <MethodName name>
PyObject* operator_function() {
  static PyObject* const found =
      checked(PyObject_GetAttrString(nb::module_::import_("keyway._C").ptr(), name.text)).release().ptr();
  return found;
}

// Calls a method. Gives a new reference, or null and Python's error.
template <MethodName name, typename... Arguments>
PyObject* call_method(Arguments*... arguments) {
  PyObject* const values[] = {arguments...};
  return PyObject_Vectorcall(tensor_method<name>(), values, sizeof...(arguments), nullptr);
}

}  // namespace keyway::inline v1::python
