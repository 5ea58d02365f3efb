#include <keyway/backends/cuda/caching_allocator.h>
#include <keyway/core/base/error.h>

#include <fmt/format.h>
#include <iterator>
#include <utility>

namespace keyway::inline v1::cuda {

namespace {

constexpr std::size_t kGranule = 512;
constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kMaxSmall = kMiB;  // blocks of small segments
constexpr std::size_t kSmallSegment = 2 * kMiB;
constexpr std::size_t kLargeSegment = 20 * kMiB;  // for several blocks
constexpr std::size_t kMinWhole = 10 * kMiB;      // blocks from here on have segments of their own
constexpr std::size_t kRoundWhole = 2 * kMiB;

std::size_t round_up(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }

std::size_t segment_size(std::size_t block) {
  if (block <= kMaxSmall) return kSmallSegment;
  return block < kMinWhole ? kLargeSegment : round_up(block, kRoundWhole);
}

}  // namespace

CachingAllocator::CachingAllocator(DeviceMemory& memory)
    : memory_(memory), waiting_(memory), limit_(memory.room().total) {
  pools_[0].captures = 1;  // it never goes
}

CachingAllocator::~CachingAllocator() {
  const std::lock_guard lock(mutex_);
  try {
    wait_for_events();
  } catch (const std::exception&) {
    // A device that fails gives nothing back.
  }
  for (auto& [id, pool] : pools_) free_segments(pool);
}

void* CachingAllocator::allocate(std::size_t bytes, StreamId stream) {
  if (bytes == 0) return nullptr;
  const std::lock_guard lock(mutex_);
  process_events();
  if (bytes > limit_) fail(bytes, stream);  // so that rounding cannot overflow
  const std::size_t size = round_up(bytes, kGranule);
  Pool& pool = pool_of(stream);
  Block* block = find_free(pool, stream, size);
  if (block == nullptr) block = make_segment(pool, stream, size);
  if (block == nullptr) fail(bytes, stream);
  try {
    split(block, size);
  } catch (...) {
    block->state = State::Free;
    free_blocks_of(*block).insert(std::move(block->node));
    throw;
  }
  block->state = State::Used;
  block->requested = bytes;
  ++stats_.allocations;
  stats_.requested.add(bytes);
  stats_.allocated.add(block->size);
  stats_.active.add(block->size);
  return block->data;
}

void CachingAllocator::free(void* pointer) {
  if (pointer == nullptr) return;
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(pointer);
  KEYWAY_CHECK(found != blocks_.end() && found->second->state == State::Used,
               "the pointer is not one of {} that is in use", memory_.device());
  Block* const block = found->second.get();
  ++stats_.frees;
  stats_.requested.subtract(block->requested);
  stats_.allocated.subtract(block->size);
  if (block->guests.empty()) {
    put_back(block);
    return;
  }
  block->state = State::Waiting;
  waiting_.add(block);
  if (captured_.empty()) try_to_guard();
}

void CachingAllocator::record_stream(const void* pointer, Stream stream) {
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(const_cast<void*>(pointer));
  if (found == blocks_.end() || found->second->state != State::Used) return;
  Block& block = *found->second;
  if (stream != Stream(memory_.device(), block.stream)) block.add_guest(stream);
}

void CachingAllocator::empty_cache() {
  const std::lock_guard lock(mutex_);
  KEYWAY_CHECK(captured_.empty(), "a graph of {} is being captured, and memory cannot be given back meanwhile",
               memory_.device());
  wait_for_events();
  free_cache();
}

void CachingAllocator::set_fraction(double fraction) {
  KEYWAY_CHECK(fraction > 0 && fraction <= 1, "the fraction of memory is {}, but must be in (0, 1]", fraction);
  const std::lock_guard lock(mutex_);
  limit_ = static_cast<std::size_t>(static_cast<double>(memory_.room().total) * fraction);
}

PoolId CachingAllocator::begin_capture(StreamId stream, PoolId pool) {
  const std::lock_guard lock(mutex_);
  KEYWAY_CHECK(!captured_.contains(stream), "stream {} is captured already", stream);
  KEYWAY_CHECK(pool == 0 || pools_.contains(pool), "there is no memory pool {}", pool);
  if (pool == 0) pool = next_pool_++;
  captured_[stream] = pool;
  ++pools_[pool].captures;
  return pool;
}

void CachingAllocator::end_capture(StreamId stream) {
  const std::lock_guard lock(mutex_);
  KEYWAY_CHECK(captured_.erase(stream) == 1, "stream {} is not captured", stream);
  if (captured_.empty()) try_to_guard();
}

void CachingAllocator::release_pool(PoolId pool) {
  const std::lock_guard lock(mutex_);
  const auto found = pools_.find(pool);
  KEYWAY_CHECK(pool != 0 && found != pools_.end() && found->second.captures > 0, "there is no memory pool {}", pool);
  --found->second.captures;
}

MemoryStats CachingAllocator::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

void CachingAllocator::reset_peaks() {
  const std::lock_guard lock(mutex_);
  stats_.reset_peaks();
}

CachingAllocator::Pool& CachingAllocator::pool_of(StreamId stream) {
  const auto captured = captured_.find(stream);
  return pools_[captured == captured_.end() ? 0 : captured->second];
}

// ---- Blocks ----

CachingAllocator::Block* CachingAllocator::find_free(Pool& pool, StreamId stream, std::size_t size) {
  FreeBlocks& blocks = size <= kMaxSmall ? pool.small : pool.large;
  Block key(&pool, stream, nullptr, size, false);
  const auto found = blocks.lower_bound(&key);
  if (found == blocks.end() || (*found)->stream != stream) return nullptr;
  Block* const block = *found;
  take(block);
  return block;
}

CachingAllocator::Block* CachingAllocator::make_segment(Pool& pool, StreamId stream, std::size_t size) {
  const std::size_t bytes = segment_size(size);
  void* data = ask_device(bytes);
  if (data == nullptr) {
    data = ask_device_again(pool, bytes);
    // Waiting for events may have freed what fits.
    if (data == nullptr) return find_free(pool, stream, size);
  }
  Block* made = nullptr;
  try {
    made = add_block(pool, stream, static_cast<char*>(data), bytes, size <= kMaxSmall);
  } catch (...) {
    memory_.free(data);
    throw;
  }
  pool.bytes += bytes;
  ++stats_.segments;
  stats_.reserved.add(bytes);
  return made;
}

void* CachingAllocator::ask_device(std::size_t bytes) {
  if (bytes > limit_ || stats_.reserved.current > limit_ - bytes) return nullptr;
  return memory_.allocate(bytes);
}

// First a segment of the size is given up, then all that is cached.
void* CachingAllocator::ask_device_again(Pool& pool, std::size_t bytes) {
  if (!captured_.empty()) return nullptr;  // to give memory back, the device would have to be waited for
  ++stats_.retries;
  free_segments(pool.large, bytes);
  if (void* const data = ask_device(bytes)) return data;
  wait_for_events();
  free_cache();
  return ask_device(bytes);
}

CachingAllocator::Block* CachingAllocator::add_block(Pool& pool, StreamId stream, char* data, std::size_t size,
                                                     bool small) {
  auto block = std::make_unique<Block>(&pool, stream, data, size, small);
  FreeBlocks blocks;
  block->node = blocks.extract(blocks.insert(block.get()).first);
  return (blocks_[data] = std::move(block)).get();
}

void CachingAllocator::split(Block* block, std::size_t size) {
  const std::size_t rest = block->size - size;
  if (rest < (block->small ? kGranule : kMaxSmall)) return;
  Block* const other = add_block(*block->pool, block->stream, block->data + size, rest, block->small);
  block->size = size;
  other->state = State::Free;
  other->before = block;
  other->after = block->after;
  if (other->after != nullptr) other->after->before = other;
  block->after = other;
  free_blocks_of(*other).insert(std::move(other->node));
}

void CachingAllocator::take(Block* block) { block->node = free_blocks_of(*block).extract(block); }

// What was in use or waited is free, in one piece with its neighbours.
void CachingAllocator::put_back(Block* block) noexcept {
  stats_.active.subtract(block->size);
  block->state = State::Free;
  if (block->after != nullptr && block->after->state == State::Free) {
    take(block->after);
    merge_with_next(block);
  }
  if (block->before != nullptr && block->before->state == State::Free) {
    block = block->before;
    take(block);
    merge_with_next(block);
  }
  free_blocks_of(*block).insert(std::move(block->node));
}

void CachingAllocator::merge_with_next(Block* block) noexcept {
  Block* const next = block->after;
  block->size += next->size;
  block->after = next->after;
  if (block->after != nullptr) block->after->before = block;
  blocks_.erase(next->data);
}

// ---- Events ----

void CachingAllocator::try_to_guard() noexcept {
  try {
    waiting_.guard();
  } catch (const std::exception&) {
    // What has no events yet gets them in the next allocate(), which can say what is wrong.
  }
}

void CachingAllocator::process_events() {
  if (!captured_.empty()) return;
  waiting_.guard();
  waiting_.collect([this](Block* block) { put_back(block); });
}

void CachingAllocator::wait_for_events() {
  waiting_.guard();
  waiting_.wait([this](Block* block) { put_back(block); });
}

// ---- Giving back ----

void CachingAllocator::free_segments(FreeBlocks& blocks, std::size_t least) {
  std::vector<Block*> whole;
  for (Block* block : blocks) {
    if (block->is_segment() && block->size >= least) whole.push_back(block);
  }
  for (Block* block : whole) {
    take(block);
    free_segment(block);
    if (least > 0) return;  // one is enough
  }
}

void CachingAllocator::free_segments(Pool& pool) {
  free_segments(pool.small, 0);
  free_segments(pool.large, 0);
}

void CachingAllocator::free_cache() {
  for (auto at = pools_.begin(); at != pools_.end();) {
    auto& [id, pool] = *at;
    const bool of_a_graph = id != 0 && pool.captures > 0;
    if (!of_a_graph) free_segments(pool);
    at = id != 0 && pool.captures == 0 && pool.bytes == 0 ? pools_.erase(at) : std::next(at);
  }
}

void CachingAllocator::free_segment(Block* block) {
  memory_.free(block->data);
  ++stats_.segments_freed;
  stats_.reserved.subtract(block->size);
  block->pool->bytes -= block->size;
  blocks_.erase(block->data);
}

void CachingAllocator::fail(std::size_t bytes, StreamId stream) {
  ++stats_.out_of_memory;
  const MemoryInfo room = memory_.room();
  const std::size_t held = stats_.reserved.current, used = stats_.active.current;
  const std::size_t taken = room.total - room.free;
  std::string graphs;
  for (const auto& [id, pool] : pools_) {
    if (id != 0 && pool.bytes != 0) graphs += fmt::format(", {} in the pool of graph {}", bytes_text(pool.bytes), id);
  }
  KEYWAY_FAIL(
      OutOfMemory,
      "out of memory on {}: {} asked for stream {}; of {} the device has {} free. Held here: {}, of which {} in use "
      "and {} cached{}; the limit is {}. Held by others: {}",
      memory_.device(), bytes_text(bytes), stream, bytes_text(room.total), bytes_text(room.free), bytes_text(held),
      bytes_text(used), bytes_text(held - used), graphs, bytes_text(limit_),
      bytes_text(taken > held ? taken - held : 0));
}

}  // namespace keyway::inline v1::cuda
