#include <keyway/backends/cuda/caching_host_allocator.h>
#include <keyway/core/base/error.h>

#include <bit>
#include <functional>
#include <iterator>
#include <utility>

namespace keyway::inline v1::cuda {

namespace {

constexpr std::size_t kPage = 4096;

// Whole pages, in one of eight sizes between powers of two, so that similar requests share blocks. Requires: bytes is
// at most half of what there are addresses for.
std::size_t block_size(std::size_t bytes) {
  const std::size_t step = std::max(std::bit_floor(bytes) / 8, kPage);
  return (bytes + step - 1) / step * step;
}

}  // namespace

CachingHostAllocator::CachingHostAllocator(HostMemory& memory) : memory_(memory), waiting_(memory) {}

CachingHostAllocator::~CachingHostAllocator() {
  try {
    empty_cache();
  } catch (const std::exception&) {
    // A device that fails gives nothing back.
  }
}

void* CachingHostAllocator::allocate(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  const std::lock_guard lock(mutex_);
  process_events();
  if (bytes > PTRDIFF_MAX / 2) fail(bytes);  // so that rounding cannot overflow
  const std::size_t size = block_size(bytes);
  Block* block = find_free(size);
  if (block == nullptr) block = make_block(size);
  if (block == nullptr) fail(bytes);
  block->requested = bytes;
  ++stats_.allocations;
  stats_.requested.add(bytes);
  stats_.allocated.add(size);
  stats_.active.add(size);
  return block->data;
}

void CachingHostAllocator::free(void* pointer) {
  if (pointer == nullptr) return;
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(static_cast<const char*>(pointer));
  KEYWAY_CHECK(found != blocks_.end() && found->second.requested != 0,
               "the pointer is not one of pinned memory that is in use");
  Block& block = found->second;
  ++stats_.frees;
  stats_.requested.subtract(std::exchange(block.requested, 0));
  stats_.allocated.subtract(block.size);
  if (block.guests.empty()) return put_back(&block);
  waiting_.add(&block);
  try {
    waiting_.guard();
  } catch (const std::exception&) {
    // What has no events yet gets them in the next allocate(), which can say what is wrong.
  }
}

void CachingHostAllocator::record_stream(const void* address, Stream stream) {
  const auto* const at = static_cast<const char*>(address);
  const std::lock_guard lock(mutex_);
  const auto after = blocks_.upper_bound(at);
  if (after == blocks_.begin()) return;
  Block& block = std::prev(after)->second;
  if (block.requested != 0 && std::less<>()(at, block.data + block.size)) block.add_guest(stream);
}

void CachingHostAllocator::empty_cache() {
  const std::lock_guard lock(mutex_);
  free_cache();
}

MemoryStats CachingHostAllocator::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

CachingHostAllocator::Block* CachingHostAllocator::find_free(std::size_t size) {
  const auto found = free_.find(size);
  if (found == free_.end() || found->second == nullptr) return nullptr;
  return std::exchange(found->second, found->second->next);
}

CachingHostAllocator::Block* CachingHostAllocator::make_block(std::size_t size) {
  free_.try_emplace(size, nullptr);
  void* data = memory_.allocate(size);
  if (data == nullptr) {
    ++stats_.retries;
    free_cache();
    data = memory_.allocate(size);
    if (data == nullptr) return nullptr;
  }
  Block* made = nullptr;
  try {
    made = &blocks_[static_cast<const char*>(data)];
  } catch (...) {
    memory_.free(data);
    throw;
  }
  made->data = static_cast<char*>(data);
  made->size = size;
  ++stats_.segments;
  stats_.reserved.add(size);
  return made;
}

void CachingHostAllocator::put_back(Block* block) noexcept {
  stats_.active.subtract(block->size);
  block->next = std::exchange(free_.find(block->size)->second, block);
}

void CachingHostAllocator::process_events() {
  waiting_.guard();
  waiting_.collect([this](Block* block) { put_back(block); });
}

void CachingHostAllocator::free_cache() {
  waiting_.guard();
  waiting_.wait([this](Block* block) { put_back(block); });
  for (auto& [size, list] : free_) {
    while (list != nullptr) {
      Block* const block = std::exchange(list, list->next);
      memory_.free(block->data);
      ++stats_.segments_freed;
      stats_.reserved.subtract(size);
      blocks_.erase(block->data);
    }
  }
}

void CachingHostAllocator::fail(std::size_t bytes) {
  ++stats_.out_of_memory;
  const std::size_t held = stats_.reserved.current, used = stats_.active.current;
  KEYWAY_FAIL(OutOfMemory, "out of pinned memory: {} asked for. Held here: {}, of which {} in use and {} cached",
              bytes_text(bytes), bytes_text(held), bytes_text(used), bytes_text(held - used));
}

}  // namespace keyway::inline v1::cuda
