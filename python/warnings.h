// Warnings of C++ as Python's: what the filters of `warnings` make of them, errors too.
#pragma once

#include <keyway/core/base/warning.h>
#include <keyway/python/errors.h>
#include <keyway/python/interpreter_lock.h>

#include <string>
#include <utility>
#include <vector>

namespace keyway::inline v1::python {

// Makes a change without the interpreter lock. What C++ warns of meanwhile is returned, for Python to hear afterwards.
template <typename Change>
std::vector<std::string> warnings_of(Change&& change) {
  HeldWarnings held;
  unlocked(std::forward<Change>(change));
  return held.take();
}

// Warns of what the Python that runs does.
inline void warn_user(const char* text) {
  if (PyErr_WarnEx(PyExc_UserWarning, text, 1) != 0) rethrow_python_error();
}

// A line of Python that a warning is about; without a file the one that runs.
struct PythonLine {
  std::string file;
  int line = 0;
};

// Warns of each; throws the first that a filter makes an error. Requires: the interpreter lock is held.
void warn_in_python(PyObject* category, const std::vector<std::string>& texts, const PythonLine& where = {});

}  // namespace keyway::inline v1::python
