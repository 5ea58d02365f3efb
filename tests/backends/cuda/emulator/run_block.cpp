#include <keyway/tests/backends/cuda/emulator/device_code.h>
#include <keyway/tests/backends/cuda/emulator/run_block.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sys/mman.h>
#include <ucontext.h>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace emulator {

namespace {

constexpr std::size_t kStackBytes = 512 << 10;

// A place to stop at and to go on from.
struct Place {
  ucontext_t context{};
  const void* stack = nullptr;
  std::size_t stack_bytes = 0;
};

// From one stack to another, and back some day. What the sanitizer is told of that: where the other one lies, and, when
// this one goes on, where the one lies that it comes from.
void switch_places(Place& from, Place& to) {
#if defined(__SANITIZE_ADDRESS__)
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&fake_stack, to.stack, to.stack_bytes);
  swapcontext(&from.context, &to.context);
  __sanitizer_finish_switch_fiber(fake_stack, &to.stack, &to.stack_bytes);
#else
  swapcontext(&from.context, &to.context);
#endif
}

// The threads of a block. A stack serves one thread after the other, until one waits at a barrier and keeps it.
class Block {
 public:
  void run(dim3 threads, const std::function<void()>& thread, bool backwards) {
    threads_ = threads;
    thread_ = &thread;
    backwards_ = backwards;
    count_ = threads.x * threads.y * threads.z;
    next_ = 0;
    while (next_ < count_) go_on(idle_place());
    while (!waiting_.empty()) {
      std::vector<Place*> now = std::move(waiting_);
      waiting_.clear();
      std::reverse(now.begin(), now.end());
      for (Place* place : now) go_on(*place);
    }
  }

  // Of the thread that runs.
  void wait() {
    const dim3 me = threadIdx;
    Place& mine = *current_;
    waiting_.push_back(&mine);
    switch_places(mine, outside_);
    threadIdx = me;
  }

 private:
  void go_on(Place& place) {
    current_ = &place;
    switch_places(outside_, place);
  }

  // Some thread that has not begun, and those after it.
  void run_threads() {
    while (next_ < count_) {
      const unsigned number = backwards_ ? count_ - 1 - next_ : next_;
      ++next_;
      threadIdx = {number % threads_.x, number / threads_.x % threads_.y, number / (threads_.x * threads_.y)};
      (*thread_)();
    }
  }

  static void begin(unsigned high, unsigned low) {
    auto& block = *reinterpret_cast<Block*>(std::uintptr_t{high} << 32 | low);
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(nullptr, &block.outside_.stack, &block.outside_.stack_bytes);
#endif
    for (;;) {
      Place& mine = *block.current_;
      block.run_threads();
      block.idle_.push_back(&mine);
      switch_places(mine, block.outside_);
    }
  }

  Place& idle_place() {
    if (idle_.empty()) {
      auto made = std::make_unique<Place>();
      made->stack_bytes = kStackBytes;
      void* const stack = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (stack == MAP_FAILED) {
        std::fputs("the emulated device has no room for another thread's stack\n", stderr);
        std::abort();
      }
      getcontext(&made->context);
      made->stack = stack;
      made->context.uc_stack.ss_sp = stack;
      made->context.uc_stack.ss_size = kStackBytes;
      const auto self = reinterpret_cast<std::uintptr_t>(this);
      makecontext(&made->context, reinterpret_cast<void (*)()>(&begin), 2, static_cast<unsigned>(self >> 32),
                  static_cast<unsigned>(self));
      idle_.push_back(made.get());
      places_.push_back(std::move(made));
    }
    Place& place = *idle_.back();
    idle_.pop_back();
    return place;
  }

  Place outside_;
  Place* current_ = nullptr;
  std::vector<std::unique_ptr<Place>> places_;
  std::vector<Place*> idle_, waiting_;
  dim3 threads_;
  const std::function<void()>* thread_ = nullptr;
  bool backwards_ = false;
  unsigned count_ = 0, next_ = 0;
};

// Kept as long as the process: kernels run under the emulator's lock.
Block& the_block() {
  static Block& block = *new Block;
  return block;
}

}  // namespace

void run_grid(dim3 blocks, dim3 threads, const std::function<void()>& thread) {
  gridDim = blocks;
  blockDim = threads;
  bool backwards = false;
  for (unsigned z = 0; z < blocks.z; ++z) {
    for (unsigned y = 0; y < blocks.y; ++y) {
      for (unsigned x = 0; x < blocks.x; ++x, backwards = !backwards) {
        blockIdx = {x, y, z};
        the_block().run(threads, thread, backwards);
      }
    }
  }
}

}  // namespace emulator

void __syncthreads() { emulator::the_block().wait(); }
