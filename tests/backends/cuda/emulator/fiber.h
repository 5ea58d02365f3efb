// A thread of execution with a stack of its own, which runs when another one hands over to it.
#pragma once

#include <cstddef>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace emulator {

class Fiber {
 public:
  // The stack that runs already.
  Fiber() = default;
  // A new one, which calls `entry` when it is first handed over to; that never returns. Its stack is never freed.
  explicit Fiber(void (*entry)());
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // To be called by this fiber, the one that runs: goes on with `to`, and returns when some fiber hands over to this
  // one.
  void hand_over(Fiber& to);

 private:
  static void begin();

  void (*entry_)() = nullptr;
  const void* stack_ = nullptr;
  std::size_t stack_bytes_ = 0;
#if defined(__x86_64__)
  void* sp_ = nullptr;
#else
  ucontext_t context_{};
#endif
};

}  // namespace emulator
