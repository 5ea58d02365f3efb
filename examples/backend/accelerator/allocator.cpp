#include <keyway/core/base/error.h>
#include <keyway/core/device/device_guard.h>
#include <keyway/core/device/host_allocator.h>

#include <accelerator/allocator.h>
#include <algorithm>
#include <utility>

namespace accelerator {

using namespace keyway;

namespace {

constexpr std::size_t kBlockStep = 512;

}  // namespace

DataPtr PinnedAllocator::allocate(std::size_t bytes) {
  auto block = std::make_unique<Block>(Block{this, host_allocator().allocate(bytes), bytes});
  void* const data = block->memory.get();
  if (data != nullptr) {
    const std::lock_guard lock(mutex_);
    blocks_[static_cast<const char*>(data)] = bytes;
  }
  return DataPtr(data, block.release(), free, DeviceType::CPU);
}

void PinnedAllocator::free(void* context) {
  const std::unique_ptr<Block> block(static_cast<Block*>(context));
  const std::lock_guard lock(block->owner->mutex_);
  block->owner->blocks_.erase(static_cast<const char*>(block->memory.get()));
}

bool PinnedAllocator::is_pinned(const void* memory) const {
  const std::lock_guard lock(mutex_);
  const auto* const address = static_cast<const char*>(memory);
  const auto after = blocks_.upper_bound(address);
  if (after == blocks_.begin()) return false;
  const auto& [begin, bytes] = *std::prev(after);
  return address < begin + bytes;
}

DataPtr CachingAllocator::allocate(std::size_t bytes) {
  const Device device = current_device(type_);
  if (bytes == 0) return DataPtr(nullptr, device);
  const int chip = device.index();
  const StreamId stream = current_stream(device).id();
  const std::size_t size = (bytes + kBlockStep - 1) / kBlockStep * kBlockStep;
  const std::lock_guard lock(mutex_);
  collect();
  std::unique_ptr<Block> block = take_cached(chip, stream, size);
  if (block == nullptr) block = make_block(chip, stream, size);
  if (block == nullptr) fail(chip, bytes);
  block->requested = bytes;
  MemoryStats& stats = stats_[chip];
  stats.requested.add(bytes);
  stats.allocated.add(block->size);
  stats.active.add(block->size);
  ++stats.allocations;
  void* const address = block->address;
  Block* const context = (used_[address] = std::move(block)).get();
  return DataPtr(address, context, free, device);
}

std::unique_ptr<CachingAllocator::Block> CachingAllocator::take_cached(int chip, StreamId stream, std::size_t size) {
  const auto found = cached_.lower_bound(Key{chip, stream, size});
  if (found == cached_.end() || found->first > Key{chip, stream, 2 * size}) return nullptr;
  std::unique_ptr<Block> block = std::move(found->second);
  cached_.erase(found);
  return block;
}

// Null if the chip has no room even without what is cached.
std::unique_ptr<CachingAllocator::Block> CachingAllocator::make_block(int chip, StreamId stream, std::size_t size) {
  Memory& memory = hardware_->chip(chip).memory();
  const auto limit = static_cast<std::size_t>(fractions_[chip] * static_cast<double>(memory.capacity()));
  MemoryStats& stats = stats_[chip];
  const auto ask = [&] { return stats.reserved.current + size > limit ? nullptr : memory.allocate(size); };
  void* address = ask();
  if (address == nullptr) {
    ++stats.retries;
    give_back_cached(chip);
    address = ask();
  }
  if (address == nullptr) return nullptr;
  stats.reserved.add(size);
  ++stats.segments;
  return std::make_unique<Block>(Block{this, chip, stream, address, size});
}

void CachingAllocator::fail(int chip, std::size_t bytes) {
  MemoryStats& stats = stats_[chip];
  ++stats.out_of_memory;
  KEYWAY_FAIL(OutOfMemory,
              "{} is out of memory: {} were asked for, but of {} tensors hold {}, and this process may have {} %",
              Device(type_, static_cast<std::int8_t>(chip)), bytes_text(bytes),
              bytes_text(hardware_->chip(chip).memory().capacity()), bytes_text(stats.allocated.current),
              100 * fractions_[chip]);
}

void CachingAllocator::free(void* context) {
  auto* const freed = static_cast<Block*>(context);
  CachingAllocator& self = *freed->owner;
  const std::lock_guard lock(self.mutex_);
  const auto used = self.used_.find(freed->address);
  std::unique_ptr<Block> block = std::move(used->second);
  self.used_.erase(used);
  MemoryStats& stats = self.stats_[block->chip];
  stats.requested.subtract(block->requested);
  stats.allocated.subtract(block->size);
  ++stats.frees;
  for (Queue* const guest : std::exchange(block->guests, {})) block->points.push_back(guest->mark());
  if (block->points.empty()) return self.put_back(std::move(block));
  self.waiting_.push_back(std::move(block));
}

void CachingAllocator::put_back(std::unique_ptr<Block> block) {
  stats_[block->chip].active.subtract(block->size);
  const Key key{block->chip, block->stream, block->size};
  cached_.emplace(key, std::move(block));
}

// Caches the blocks that waited, and whose guests are done.
void CachingAllocator::collect() {
  for (std::unique_ptr<Block>& block : waiting_) {
    const auto is_reached = [](const std::shared_ptr<Point>& point) { return point->is_reached(); };
    if (!std::all_of(block->points.begin(), block->points.end(), is_reached)) continue;
    block->points.clear();
    put_back(std::move(block));
  }
  std::erase(waiting_, nullptr);
}

void CachingAllocator::give_back_cached(int chip) {
  hardware_->chip(chip).drain();  // queued work may still use cached blocks
  collect();
  for (auto at = cached_.begin(); at != cached_.end();) {
    const Block& block = *at->second;
    if (block.chip != chip) {
      ++at;
      continue;
    }
    if (!hardware_->chip(chip).memory().free(block.address)) {
      hardware_->chip(chip).note(std::make_exception_ptr(std::runtime_error("a command wrote beyond a buffer's end")));
    }
    stats_[chip].reserved.subtract(block.size);
    ++stats_[chip].segments_freed;
    at = cached_.erase(at);
  }
}

void CachingAllocator::empty_cache() {
  const std::lock_guard lock(mutex_);
  for (int chip = 0; chip < kChips; ++chip) give_back_cached(chip);
}

void CachingAllocator::record_stream(const void* data, Device device, Stream stream) {
  const std::lock_guard lock(mutex_);
  const auto used = used_.find(data);
  if (used == used_.end() || stream == Stream(device, used->second->stream)) return;
  Queue* const guest = &hardware_->chip(stream.device().index()).queue(static_cast<std::size_t>(stream.id()));
  std::vector<Queue*>& guests = used->second->guests;
  if (std::find(guests.begin(), guests.end(), guest) == guests.end()) guests.push_back(guest);
}

MemoryStats CachingAllocator::memory_stats(Device device) {
  const std::lock_guard lock(mutex_);
  return stats_[device.index()];
}

void CachingAllocator::reset_peak_memory_stats(Device device) {
  const std::lock_guard lock(mutex_);
  stats_[device.index()].reset_peaks();
}

void CachingAllocator::set_per_process_memory_fraction(double fraction, Device device) {
  const std::lock_guard lock(mutex_);
  fractions_[device.index()] = fraction;
}

MemoryInfo CachingAllocator::get_memory_info(Device device) {
  const Memory& memory = hardware_->chip(device.index()).memory();
  return {memory.capacity() - memory.used(), memory.capacity()};
}

void CachingAllocator::copy(void* to, const void* from, std::size_t bytes) {
  const Stream stream = current_stream(Device(type_));
  static_cast<Queue*>(stream.native_handle())->push([=] { copy_bytes(to, from, bytes); });
  stream.synchronize();
}

}  // namespace accelerator
