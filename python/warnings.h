// Warnings of C++ as Python's: what the filters of `warnings` make of them, errors too.
#pragma once

#include <keyway/core/base/warning.h>
#include <keyway/python/interpreter_lock.h>

#include <nanobind/nanobind.h>
#include <string>
#include <utility>
#include <vector>

namespace keyway::inline v1::python {

// From now on Python hears of warnings, of any thread, as of a UserWarning. One that a filter makes an error is thrown
// by warn() in a call from Python; sys.unraisablehook has it where C++ catches it, or no Python called.
void hear_warnings();

// Makes a change without the interpreter lock. What C++ warns of meanwhile is returned, for Python to hear afterwards.
template <typename Change>
std::vector<std::string> warnings_of(Change&& change) {
  HeldWarnings held;
  {
    const LockReleased unlocked;
    std::forward<Change>(change)();
  }
  return held.take();
}

// A line of Python that a warning is about; without a file the one that runs.
struct PythonLine {
  std::string file;
  int line = 0;
};

// Warns of each; throws the first that a filter makes an error. Requires: the interpreter lock is held.
void warn_in_python(PyObject* category, const std::vector<std::string>& texts, const PythonLine& where = {});

}  // namespace keyway::inline v1::python
