#include <keyway/python/errors.h>
#include <keyway/python/recursion.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <pthread.h>

namespace keyway::inline v1::python {
namespace {

struct StackBounds {
  std::uintptr_t begin = 0, low = 0, end = 0;  // it grows down; below `low` nothing is to be called
};

// Of this thread; empty if it is not known.
StackBounds find_stack() {
  constexpr std::size_t kReserve = 256 << 10;
  pthread_attr_t thread_attributes;
  if (pthread_getattr_np(pthread_self(), &thread_attributes) != 0) return {};
  void* begin = nullptr;
  std::size_t size = 0;
  const bool found = pthread_attr_getstack(&thread_attributes, &begin, &size) == 0;
  pthread_attr_destroy(&thread_attributes);
  if (!found) return {};
  const auto first = reinterpret_cast<std::uintptr_t>(begin);
  return {first, first + std::min(kReserve, size / 4), first + size};
}

bool is_stack_low() {
  constinit static thread_local StackBounds stack;
  if (stack.end == 0) stack = find_stack();
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  return stack.begin <= here && here < stack.low;  // elsewhere lies a stack that somebody else has made
}

}  // namespace

Recursion::Recursion() {
  if (is_stack_low()) throw_python_error(PyExc_RecursionError, "the thread's stack is nearly used up by nested calls");
  if (Py_EnterRecursiveCall(" in a kernel") != 0) rethrow_python_error();
}

Recursion::~Recursion() { Py_LeaveRecursiveCall(); }

}  // namespace keyway::inline v1::python
