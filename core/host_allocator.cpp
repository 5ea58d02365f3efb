// Blocks below kLargeBlock come from malloc. Larger ones are mapped, and kept for reuse when they are freed:
// the first touch of fresh pages costs more than most kernels that write them.
#include <keyway/core/base/error.h>
#include <keyway/core/host_allocator.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

namespace keyway::inline v1 {

namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kLargeBlock = std::size_t{256} << 10;
constexpr std::size_t kHugePage = std::size_t{2} << 20;

// Memory that this process may use: the machine's, or its cgroup's if that is less.
std::size_t memory_of_machine() {
  std::size_t bytes =
      static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    if (std::FILE* file = std::fopen(path, "re")) {
      unsigned long long limit = 0;
      if (std::fscanf(file, "%llu", &limit) == 1) bytes = std::min<std::size_t>(bytes, limit);
      std::fclose(file);
    }
  }
  return bytes;
}

// Rounded up to one of eight steps between powers of two, so that similar sizes share blocks.
std::size_t large_class(std::size_t bytes) {
  const std::size_t step = std::max(std::bit_floor(bytes) / 8, std::size_t{4096});
  return (bytes + step - 1) / step * step;
}

class HostAllocator final : public Allocator {
 public:
  DataPtr allocate(std::size_t bytes) override {
    const Device cpu(DeviceType::CPU);
    if (bytes == 0) return DataPtr(nullptr, cpu);
    requests_.fetch_add(1, std::memory_order_relaxed);
    const std::size_t size = bytes < kLargeBlock ? bytes : bytes <= limit() ? large_class(bytes) : bytes;
    reserve(size);
    void* data = size < kLargeBlock ? allocate_small(size) : allocate_large(size);
    if (data == nullptr) {
      release(size);
      KEYWAY_FAIL(OutOfMemory, "the system refused {} bytes ({} in use)", bytes, allocated_.load());
    }
    if (size < kLargeBlock) return DataPtr(data, static_cast<char*>(data) - sizeof(Header), free_small, cpu);
    return DataPtr(data, data, free_large, cpu);
  }

  HostMemoryStats stats() {
    const std::lock_guard lock(mutex_);
    return {allocated_, cached_, peak_, requests_, hits_, limit()};
  }
  void reset_peak() { peak_.store(allocated_.load()); }
  std::size_t set_limit(std::size_t bytes) {
    const std::size_t before = limit();
    limit_ = bytes;
    return before;
  }
  void empty_cache() {
    const std::lock_guard lock(mutex_);
    for (const auto& [size, data] : free_) unmap(data, size);
    free_.clear();
    cached_ = 0;
  }

 private:
  // Stands before a small block's data: how to free it.
  struct Header {
    void* raw;
    std::size_t size;
  };

  std::size_t limit() {
    std::size_t limit = limit_.load(std::memory_order_relaxed);
    if (limit == 0) limit_ = limit = memory_of_machine();
    return limit;
  }

  void reserve(std::size_t bytes) {
    const std::size_t before = allocated_.fetch_add(bytes, std::memory_order_relaxed);
    const std::size_t max = limit();
    if (bytes > max || before > max - bytes) [[unlikely]] {
      release(bytes);
      KEYWAY_FAIL(OutOfMemory, "{} bytes are asked for, but {} of {} are in use", bytes, before, max);
    }
    std::size_t peak = peak_.load(std::memory_order_relaxed);
    while (before + bytes > peak &&
           !peak_.compare_exchange_weak(peak, before + bytes, std::memory_order_relaxed)) {
    }
  }
  void release(std::size_t bytes) { allocated_.fetch_sub(bytes, std::memory_order_relaxed); }

  static void* allocate_small(std::size_t size) {
    char* raw = static_cast<char*>(std::malloc(size + sizeof(Header) + kAlignment));
    if (raw == nullptr) return nullptr;
    const auto start = reinterpret_cast<std::uintptr_t>(raw) + sizeof(Header) + kAlignment - 1;
    char* data = raw + ((start & ~(kAlignment - 1)) - reinterpret_cast<std::uintptr_t>(raw));
    new (data - sizeof(Header)) Header{raw, size};
    return data;
  }
  static void free_small(void* context);

  void* allocate_large(std::size_t size) {
    {
      const std::lock_guard lock(mutex_);
      if (auto block = free_.find(size); block != free_.end()) {
        void* data = block->second;
        free_.erase(block);
        cached_ -= size;
        ++hits_;
        sizes_.emplace(data, size);
        return data;
      }
    }
    // What is cached counts against the memory of the machine too.
    if (allocated_.load(std::memory_order_relaxed) + cached_ > limit()) empty_cache();
    void* data = map(size);
    if (data == nullptr) {
      empty_cache();
      data = map(size);
    }
    if (data == nullptr) return nullptr;
    const std::lock_guard lock(mutex_);
    sizes_.emplace(data, size);
    return data;
  }
  static void free_large(void* data);
  void free_large_block(void* data) {
    const std::lock_guard lock(mutex_);
    const auto block = sizes_.find(data);
    const std::size_t size = block->second;
    sizes_.erase(block);
    release(size);
#if defined(KEYWAY_SANITIZED)
    unmap(data, size);
#else
    if (cached_ + size > limit() / 4) {
      unmap(data, size);
    } else {
      free_.emplace(size, data);
      cached_ += size;
    }
#endif
  }

#if defined(KEYWAY_SANITIZED)
  // Through malloc, whose blocks the sanitizers watch.
  static void* map(std::size_t size) { return std::aligned_alloc(kAlignment, (size + 63) / 64 * 64); }
  static void unmap(void* data, std::size_t) { std::free(data); }
#else
  static void* map(std::size_t size) {
    void* data = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) return nullptr;
    if (size >= 2 * kHugePage) madvise(data, size, MADV_HUGEPAGE);
    return data;
  }
  static void unmap(void* data, std::size_t size) { munmap(data, size); }
#endif

  std::atomic<std::size_t> allocated_{0};
  std::atomic<std::size_t> peak_{0};
  std::atomic<std::size_t> limit_{0};
  std::atomic<std::uint64_t> requests_{0};
  std::mutex mutex_;
  std::multimap<std::size_t, void*> free_;
  std::map<void*, std::size_t> sizes_;  // of large blocks in use
  std::atomic<std::size_t> cached_{0};
  std::uint64_t hits_ = 0;
};

// Never destroyed: tensors of static life may be freed after it would be.
HostAllocator& instance() {
  static HostAllocator& allocator = *new HostAllocator;
  return allocator;
}

void HostAllocator::free_small(void* context) {
  const Header header = *static_cast<Header*>(context);
  instance().release(header.size);
  std::free(header.raw);
}
void HostAllocator::free_large(void* data) { instance().free_large_block(data); }

}  // namespace

Allocator& host_allocator() { return instance(); }
HostMemoryStats host_memory_stats() { return instance().stats(); }
void reset_peak_host_memory_stats() { instance().reset_peak(); }
void empty_host_cache() { instance().empty_cache(); }
std::size_t set_host_memory_limit(std::size_t bytes) { return instance().set_limit(bytes); }

}  // namespace keyway::inline v1
