// CachingHostAllocator: pinned memory of the CPU, kept for reuse: the system takes as long to pin pages as to copy
// them.
//
// A block is free the moment that its owner frees it, unless a stream was said to use it (record_stream): then it waits
// for events of these streams, so that a copy that is under way reads what its owner wrote.
#pragma once

#include <keyway/backends/cuda/deferred_frees.h>
#include <keyway/backends/cuda/host_memory.h>
#include <keyway/core/device/memory_stats.h>

#include <cstddef>
#include <map>
#include <mutex>

namespace keyway::inline v1::cuda {

// Thread-safe.
class KEYWAY_API CachingHostAllocator {
 public:
  // Requires: `memory` outlives this.
  explicit CachingHostAllocator(HostMemory& memory);
  // Gives the memory back. Requires: nobody uses any of it.
  ~CachingHostAllocator();
  CachingHostAllocator(const CachingHostAllocator&) = delete;
  CachingHostAllocator& operator=(const CachingHostAllocator&) = delete;

  // Memory aligned to a page; null for 0 bytes. Throws keyway::Error(OutOfMemory) that says what was asked and what is
  // held, after everything that is cached was given back and that was not enough.
  void* allocate(std::size_t bytes);
  // Null is allowed. Throws keyway::Error(Value) for any other pointer that allocate() did not give, and nothing else.
  void free(void* pointer);
  // Work that is queued in `stream` before the free uses the block that has this address. Addresses of other memory are
  // nothing to it.
  void record_stream(const void* address, Stream stream);
  // Waits for what is freed but in use, and gives back all that nobody has.
  void empty_cache();

  MemoryStats stats() const;

 private:
  struct Block : DeferredFree<Block> {
    char* data = nullptr;
    std::size_t size = 0;
    std::size_t requested = 0;  // 0: nobody has it
    Block* next = nullptr;      // of the free ones of its size: what is freed needs no memory
  };

  Block* find_free(std::size_t size);
  Block* make_block(std::size_t size);
  void put_back(Block* block) noexcept;
  void process_events();
  void free_cache();
  [[noreturn]] void fail(std::size_t bytes);

  HostMemory& memory_;
  mutable std::mutex mutex_;
  std::map<const char*, Block> blocks_;  // all, by address
  std::map<std::size_t, Block*> free_;   // lists, by size; one for each size that there is
  DeferredFrees<Block> waiting_;
  MemoryStats stats_;
};

}  // namespace keyway::inline v1::cuda
