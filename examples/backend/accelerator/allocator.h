// Memory of the accelerator, kept for reuse, and memory of the host that it copies from and to by itself.
//
// A block belongs to the stream that it was allocated for. When it is freed, work of that stream may still use it; so
// only work that is queued in the same stream, which runs later, gets it again at once. Another stream that uses a
// block says so (record_stream). Then the block, once freed, waits until that stream has done what it had to do by
// then.
#pragma once

#include <keyway/core/tensor/device_allocator.h>

#include <accelerator/hardware.h>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

namespace accelerator {

// Memory of the host, of which it is known where it lies.
class PinnedAllocator final : public keyway::Allocator {
 public:
  keyway::DataPtr allocate(std::size_t bytes) override;
  bool is_pinned(const void* memory) const override;

 private:
  struct Block {
    PinnedAllocator* owner;
    keyway::DataPtr memory;
    std::size_t bytes;
  };
  static void free(void* block);

  mutable std::mutex mutex_;
  std::map<const char*, std::size_t> blocks_;  // where they begin, and how long they are
};

class CachingAllocator final : public keyway::DeviceAllocator {
 public:
  CachingAllocator(keyway::DeviceType type, std::shared_ptr<Hardware> hardware)
      : type_(type), hardware_(std::move(hardware)) {}
  ~CachingAllocator() override { empty_cache(); }

  keyway::DataPtr allocate(std::size_t bytes) override;
  void copy_data(void* to, const void* from, std::size_t bytes) override { copy(to, from, bytes); }
  void copy_from_host(void* to, const void* from, std::size_t bytes) override { copy(to, from, bytes); }
  void copy_to_host(void* to, const void* from, std::size_t bytes) override { copy(to, from, bytes); }
  keyway::Allocator& pinned() override { return pinned_; }
  bool is_pinned(const void* memory) const override { return pinned_.is_pinned(memory); }

  keyway::MemoryStats memory_stats(keyway::Device device) override;
  void reset_peak_memory_stats(keyway::Device device) override;
  void empty_cache() override;
  void set_per_process_memory_fraction(double fraction, keyway::Device device) override;
  void record_stream(const void* data, keyway::Device device, keyway::Stream stream) override;
  keyway::MemoryInfo get_memory_info(keyway::Device device) override;

 private:
  struct Block {
    CachingAllocator* owner;
    int chip;
    keyway::StreamId stream;
    void* address;
    std::size_t size;
    std::size_t requested = 0;
    std::vector<Queue*> guests = {};                  // queues of other streams that use it
    std::vector<std::shared_ptr<Point>> points = {};  // of the guests, once it is freed
  };
  using Key = std::tuple<int, keyway::StreamId, std::size_t>;  // chip, stream, size

  static void free(void* block);
  void put_back(std::unique_ptr<Block> block);
  void collect();
  std::unique_ptr<Block> take_cached(int chip, keyway::StreamId stream, std::size_t size);
  std::unique_ptr<Block> make_block(int chip, keyway::StreamId stream, std::size_t size);
  void give_back_cached(int chip);
  [[noreturn]] void fail(int chip, std::size_t bytes);
  void copy(void* to, const void* from, std::size_t bytes);

  const keyway::DeviceType type_;
  const std::shared_ptr<Hardware> hardware_;
  PinnedAllocator pinned_;
  std::mutex mutex_;
  std::map<const void*, std::unique_ptr<Block>> used_;
  std::multimap<Key, std::unique_ptr<Block>> cached_;
  std::vector<std::unique_ptr<Block>> waiting_;  // freed, but guests may still use them
  double fractions_[kChips] = {1, 1};
  keyway::MemoryStats stats_[kChips];
};

}  // namespace accelerator
