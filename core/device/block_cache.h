// Small memory blocks, kept for reuse by the thread that frees them: what a tensor of a few elements is made
// of.
//
// Blocks of up to 1 KiB, in classes of 64 bytes, aligned to 64. A thread holds at most kBlocksPerClass free
// ones of each class; its lists are given back when it ends. In builds with sanitizers every block goes back
// at once, since a cache hides use after free.
#pragma once

#include <keyway/core/base/macros.h>

#include <cstddef>
#include <cstdint>
#include <new>

namespace keyway::inline v1 {

inline constexpr std::size_t kBlockGranule = 64;
inline constexpr std::size_t kMaxCachedBlock = 1024;
inline constexpr std::size_t kBlockClasses = kMaxCachedBlock / kBlockGranule;
inline constexpr std::uint32_t kBlocksPerClass = 64;

namespace detail {

struct FreeBlock {
  FreeBlock* next;
};
struct BlockList {
  FreeBlock* head = nullptr;
  std::uint32_t room = 0;  // how many more blocks may be kept; 0 until the thread has registered its exit
};
struct BlockLists {
  BlockList classes[kBlockClasses];
};
extern KEYWAY_API constinit thread_local BlockLists block_lists __attribute__((tls_model("initial-exec")));

KEYWAY_API void* allocate_block_slowly(std::size_t bytes);
KEYWAY_API void free_block_slowly(void* block, std::size_t bytes) noexcept;

}  // namespace detail

// `bytes` of memory aligned to 64, uninitialised. Throws keyway::Error(OutOfMemory).
inline void* allocate_block(std::size_t bytes) {
  const std::size_t cls = (bytes + kBlockGranule - 1) / kBlockGranule - 1;  // 0 bytes wrap to a large class
  if (cls < kBlockClasses) [[likely]] {
    detail::BlockList& list = detail::block_lists.classes[cls];
    if (detail::FreeBlock* block = list.head) [[likely]] {
      list.head = block->next;
      ++list.room;
      return block;
    }
  }
  return detail::allocate_block_slowly(bytes);
}

// Requires: allocate_block(bytes) gave `block`. From any thread.
inline void free_block(void* block, std::size_t bytes) noexcept {
  const std::size_t cls = (bytes + kBlockGranule - 1) / kBlockGranule - 1;
  if (cls < kBlockClasses) [[likely]] {
    detail::BlockList& list = detail::block_lists.classes[cls];
    if (list.room != 0) [[likely]] {
      list.head = new (block) detail::FreeBlock{list.head};
      --list.room;
      return;
    }
  }
  detail::free_block_slowly(block, bytes);
}

}  // namespace keyway::inline v1
