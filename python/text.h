// Text between the two languages.
#pragma once

#include <keyway/python/errors.h>
#include <keyway/python/nanobind.h>

#include <string_view>

namespace keyway::inline v1::python {

// Requires: `object` is a str, and outlives the result.
inline std::string_view text_in(PyObject* object) {
  Py_ssize_t size = 0;
  const char* const text = PyUnicode_AsUTF8AndSize(object, &size);
  if (text == nullptr) rethrow_python_error();
  return {text, static_cast<std::size_t>(size)};
}
// A str, the same one for equal texts, for the length of the program.
inline PyObject* interned(const char* text) { return checked(PyUnicode_InternFromString(text)).release().ptr(); }
inline nb::str to_str(std::string_view text) { return nb::str(text.data(), text.size()); }

}  // namespace keyway::inline v1::python
