// CachingAllocator: memory of one device, kept for reuse. The device's own allocation takes as long as hundreds of
// kernels and waits for all of them, so segments are asked for rarely, cut into blocks, and kept.
//
// Streams. A block belongs to the stream that it was allocated for, and goes back to that stream's blocks the moment it
// is freed: what the stream queues later runs after what it queued before. Another stream that uses the block says so
// (record_stream); then the block waits, once it is freed, for events of these streams.
//
// Sizes are those of PyTorch's allocator: blocks are multiples of 512 bytes; those of up to 1 MiB are cut from segments
// of 2 MiB, those below 10 MiB from segments of 20 MiB, larger ones are segments of a multiple of 2 MiB.
//
// Graphs. What is allocated while a stream is captured comes from a pool of its own, whose segments no one else gets as
// long as the graph may be replayed.
#pragma once

#include <keyway/backends/cuda/deferred_frees.h>
#include <keyway/backends/cuda/device_memory.h>
#include <keyway/core/device/memory_stats.h>
#include <keyway/core/device/stream.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>

namespace keyway::inline v1::cuda {

// Of a graph. 0 is the pool of everything else.
using PoolId = std::uint64_t;

// Thread-safe.
class KEYWAY_API CachingAllocator {
 public:
  // Requires: `memory` outlives this.
  explicit CachingAllocator(DeviceMemory& memory);
  // Gives the device its memory back. Requires: nobody uses any of it.
  ~CachingAllocator();
  CachingAllocator(const CachingAllocator&) = delete;
  CachingAllocator& operator=(const CachingAllocator&) = delete;

  // Memory for work of `stream`, aligned to 512; null for 0 bytes. Throws keyway::Error(OutOfMemory) that says what was
  // asked, what is held and what for, after everything that is cached was given back and that was not enough.
  void* allocate(std::size_t bytes, StreamId stream);
  // Null is allowed. Throws keyway::Error(Value) for any other pointer that allocate() did not give, and nothing else:
  // the next allocate() tries again what the device refused.
  void free(void* pointer);
  // Work that is queued in `stream`, of any device, before the free uses the memory too. Pointers that are not those of
  // blocks in use are ignored.
  void record_stream(const void* pointer, Stream stream);
  // Gives back the segments that nobody uses. Throws keyway::Error(Value) while a stream is captured.
  void empty_cache();
  // At most this part of the device's memory, in (0, 1].
  void set_fraction(double fraction);

  // From now on `stream` allocates from a new pool, or from that of another graph.
  PoolId begin_capture(StreamId stream, PoolId pool = 0);
  // Throws keyway::Error(Value) if it is not captured, and nothing else, as free() does.
  void end_capture(StreamId stream);
  // The graph is gone: its segments may be given back once nobody uses them.
  void release_pool(PoolId pool);

  MemoryStats stats() const;
  void reset_peaks();

 private:
  enum class State : std::uint8_t { Used, Waiting, Free };
  struct Pool;
  struct Block;
  // By stream, then size, then address: the best fit of a stream is the first that is not less.
  struct Less {
    bool operator()(const Block* a, const Block* b) const {
      if (a->stream != b->stream) return a->stream < b->stream;
      if (a->size != b->size) return a->size < b->size;
      return a->data < b->data;
    }
  };
  using FreeBlocks = std::set<Block*, Less>;
  struct Block : DeferredFree<Block> {
    Pool* pool;
    StreamId stream;
    char* data;
    std::size_t size;
    bool small;  // cut from a segment for small ones
    std::size_t requested = 0;
    State state = State::Used;
    Block* before = nullptr;  // neighbours in the segment
    Block* after = nullptr;
    FreeBlocks::node_type node{};  // among the free ones, while it is not there: what is freed needs no memory

    Block(Pool* its_pool, StreamId its_stream, char* at, std::size_t bytes, bool is_small)
        : pool(its_pool), stream(its_stream), data(at), size(bytes), small(is_small) {}
    bool is_segment() const { return before == nullptr && after == nullptr; }
  };
  struct Pool {
    FreeBlocks small, large;
    int captures = 0;       // graphs that have it
    std::size_t bytes = 0;  // of its segments
  };

  Pool& pool_of(StreamId stream);
  static FreeBlocks& free_blocks_of(const Block& block) { return block.small ? block.pool->small : block.pool->large; }
  Block* find_free(Pool& pool, StreamId stream, std::size_t size);
  Block* make_segment(Pool& pool, StreamId stream, std::size_t size);
  void* ask_device(std::size_t bytes);
  void* ask_device_again(Pool& pool, std::size_t bytes);
  Block* add_block(Pool& pool, StreamId stream, char* data, std::size_t size, bool small);
  void split(Block* block, std::size_t size);
  void take(Block* block);
  void put_back(Block* block) noexcept;
  void merge_with_next(Block* block) noexcept;
  void try_to_guard() noexcept;
  void process_events();
  void wait_for_events();
  void free_segments(Pool& pool);
  void free_cache();
  void free_segments(FreeBlocks& blocks, std::size_t least);
  void free_segment(Block* block);
  [[noreturn]] void fail(std::size_t bytes, StreamId stream);

  DeviceMemory& memory_;
  mutable std::mutex mutex_;
  std::unordered_map<void*, std::unique_ptr<Block>> blocks_;  // all, by address
  std::map<PoolId, Pool> pools_;
  std::map<StreamId, PoolId> captured_;
  DeferredFrees<Block> waiting_;  // without events as long as a stream is captured, which forbids them
  PoolId next_pool_ = 1;
  std::size_t limit_;
  MemoryStats stats_;
};

}  // namespace keyway::inline v1::cuda
