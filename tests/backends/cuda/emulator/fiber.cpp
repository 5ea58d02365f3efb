// On x86-64 a few instructions: swapcontext asks the system for the mask of signals, which is most of a kernel's time,
// and all the more where a sanitizer looks at each call of it.
#include <keyway/tests/backends/cuda/emulator/fiber.h>

#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

#if defined(__x86_64__)
// Puts what a callee must keep (System V ABI, 3.2.1) on this stack and its top into *from, and takes it from `to`.
extern "C" void keyway_emulator_switch_stack(void** from, void* to);
asm(R"(
.text
.hidden keyway_emulator_switch_stack
.globl keyway_emulator_switch_stack
.type keyway_emulator_switch_stack, @function
keyway_emulator_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size keyway_emulator_switch_stack, . - keyway_emulator_switch_stack
)");
#endif

namespace emulator {

namespace {

constexpr std::size_t kStackBytes = 512 << 10;

// The two of the last switch. One thread of the host runs kernels at a time.
Fiber* running = nullptr;
Fiber* left = nullptr;

}  // namespace

void Fiber::begin() {
  Fiber& self = *running;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, &left->stack_, &left->stack_bytes_);
#endif
  self.entry_();
  std::abort();
}

Fiber::Fiber(void (*entry)()) : entry_(entry), stack_bytes_(kStackBytes) {
  void* const stack = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (stack == MAP_FAILED) {
    std::fputs("the emulated device has no room for another thread's stack\n", stderr);
    std::abort();
  }
  stack_ = stack;
#if defined(__x86_64__)
  // Six registers, where to go, and where that would return to: it is called with 8 bytes above a multiple of 16.
  void** const top = static_cast<void**>(stack) + kStackBytes / sizeof(void*);
  top[-2] = reinterpret_cast<void*>(&Fiber::begin);
  sp_ = top - 8;
#else
  getcontext(&context_);
  context_.uc_stack.ss_sp = stack;
  context_.uc_stack.ss_size = kStackBytes;
  makecontext(&context_, &Fiber::begin, 0);
#endif
}

// What the sanitizer is told: where the other stack lies, and, when this one goes on, where the one lies that it comes
// from.
void Fiber::hand_over(Fiber& to) {
  left = this;
  running = &to;
#if defined(__SANITIZE_ADDRESS__)
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&fake_stack, to.stack_, to.stack_bytes_);
#endif
#if defined(__x86_64__)
  keyway_emulator_switch_stack(&sp_, to.sp_);
#else
  swapcontext(&context_, &to.context_);
#endif
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fake_stack, &left->stack_, &left->stack_bytes_);
#endif
}

}  // namespace emulator
