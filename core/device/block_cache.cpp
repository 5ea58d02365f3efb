#include <keyway/core/base/error.h>
#include <keyway/core/device/block_cache.h>
#include <keyway/core/device/first_use.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>

namespace keyway::inline v1::detail {

constinit thread_local BlockLists block_lists;

namespace {

std::size_t rounded(std::size_t bytes) { return (bytes + kBlockGranule - 1) / kBlockGranule * kBlockGranule; }

// Lives from a thread's first block to its end. Trivially destructible state (block_lists) outlives it, so
// blocks that are freed later still find room == 0 and go straight back to the system.
struct ThreadExit {
  ThreadExit() {
#if !defined(KEYWAY_SANITIZED)
    for (BlockList& list : block_lists.classes) list.room = kBlocksPerClass;
#endif
  }
  ~ThreadExit() {
    for (BlockList& list : block_lists.classes) {
      list.room = 0;
      while (FreeBlock* block = list.head) {
        list.head = block->next;
        std::free(block);
      }
    }
  }
};

void register_thread_exit() {
  thread_local ThreadExit exit;
  (void)exit;
}

void notice_first_use() {
  static constinit std::atomic<bool> noticed{false};
  if (noticed.load(std::memory_order_relaxed) || noticed.exchange(true)) return;
  if (on_first_use != nullptr) on_first_use();
}

}  // namespace

void* allocate_block_slowly(std::size_t bytes) {
  KEYWAY_CHECK_AS(OutOfMemory, bytes <= PTRDIFF_MAX, "{} bytes are more than an object can have", bytes);
  register_thread_exit();
  notice_first_use();
  void* block = std::aligned_alloc(kBlockGranule, bytes == 0 ? kBlockGranule : rounded(bytes));
  KEYWAY_CHECK_AS(OutOfMemory, block != nullptr, "the system refused {} bytes", bytes);
  return block;
}

void free_block_slowly(void* block, std::size_t) noexcept { std::free(block); }

}  // namespace keyway::inline v1::detail
