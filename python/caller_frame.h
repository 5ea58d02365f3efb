// Where in Python a call was made.
#pragma once

#include <keyway/python/nanobind.h>

#include <string>

namespace keyway::inline v1::python {

// The frame that called into this package, whose own functions only pass calls on; an invalid one if there is none.
// `level` counts frames as `warnings` does: 1 for the innermost. Requires: the interpreter lock.
struct CallerFrame {
  nb::object frame;
  Py_ssize_t level;
};
CallerFrame caller_frame();

// "model.py:12": the file, without its folders, and the line of that frame; empty if there is none. Requires: the
// interpreter lock.
std::string caller_line();
// The same for a thread that may not hold the lock; also empty where there is no interpreter.
std::string call_site();

}  // namespace keyway::inline v1::python
