// A level of Python's recursion, for calls from C++ that may come to the same place again.
#pragma once

namespace keyway::inline v1::python {

// Throws Python's RecursionError where the levels are too many, or where the thread's stack is nearly used up: what C++
// calls in between counts in no level. Requires: the interpreter lock, as long as it lives.
class Recursion {
 public:
  Recursion();
  ~Recursion();
  Recursion(const Recursion&) = delete;
  Recursion& operator=(const Recursion&) = delete;
};

}  // namespace keyway::inline v1::python
