// A level of Python's recursion, for calls from C++ that may come to the same place again.
#pragma once

#include <keyway/python/errors.h>

namespace keyway::inline v1::python {

// Throws Python's RecursionError where the levels are too many. Requires: the interpreter lock, as long as it lives.
class Recursion {
 public:
  Recursion() {
    if (Py_EnterRecursiveCall(" in a kernel") != 0) rethrow_python_error();
  }
  Recursion(const Recursion&) = delete;
  Recursion& operator=(const Recursion&) = delete;
  ~Recursion() { Py_LeaveRecursiveCall(); }
};

}  // namespace keyway::inline v1::python
