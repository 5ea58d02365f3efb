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

// Warns of each, as a RuntimeWarning; throws the first that a filter makes an error. Requires: the interpreter lock is
// held.
void warn_in_python(const std::vector<std::string>& texts, const PythonLine& where = {});

// The same; where it throws, what they are about is undone before, by a function whose own warnings nobody hears.
template <typename Undo>
void warn_or_undo(const std::vector<std::string>& texts, const PythonLine& where, Undo&& undo) {
  try {
    warn_in_python(texts, where);
  } catch (...) {
    HeldWarnings unheard;
    undo();
    (void)unheard.take();
    throw;
  }
}

}  // namespace keyway::inline v1::python
