#include <keyway/tests/backends/cuda/emulator/device_code.h>
#include <keyway/tests/backends/cuda/emulator/fiber.h>
#include <keyway/tests/backends/cuda/emulator/run_block.h>

#include <algorithm>
#include <memory>
#include <vector>

dim3 threadIdx, blockIdx, blockDim, gridDim;

namespace emulator {

namespace {

// The threads of a block. A fiber serves one thread after the other, until one waits at a barrier and keeps it.
class Block {
 public:
  void run(dim3 threads, const std::function<void()>& thread, bool backwards) {
    threads_ = threads;
    thread_ = &thread;
    backwards_ = backwards;
    count_ = threads.x * threads.y * threads.z;
    next_ = 0;
    while (next_ < count_) go_on(idle_fiber());
    while (!waiting_.empty()) {
      std::vector<Fiber*> now = std::move(waiting_);
      waiting_.clear();
      std::reverse(now.begin(), now.end());
      for (Fiber* fiber : now) go_on(*fiber);
    }
  }

  // Of the thread that runs.
  void wait() {
    const dim3 me = threadIdx;
    Fiber& mine = *current_;
    waiting_.push_back(&mine);
    mine.hand_over(outside_);
    threadIdx = me;
  }

  // Of a fiber: the threads that it is there for, over and over.
  [[noreturn]] void serve() {
    for (;;) {
      Fiber& mine = *current_;
      run_threads();
      idle_.push_back(&mine);
      mine.hand_over(outside_);
    }
  }

 private:
  void go_on(Fiber& fiber) {
    current_ = &fiber;
    outside_.hand_over(fiber);
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

  Fiber& idle_fiber();

  Fiber outside_;
  Fiber* current_ = nullptr;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Fiber*> idle_, waiting_;
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

Fiber& Block::idle_fiber() {
  if (idle_.empty()) {
    fibers_.push_back(std::make_unique<Fiber>([] { the_block().serve(); }));
    idle_.push_back(fibers_.back().get());
  }
  Fiber& fiber = *idle_.back();
  idle_.pop_back();
  return fiber;
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
