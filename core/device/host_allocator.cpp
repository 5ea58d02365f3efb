// Blocks below kLargeBlock come from malloc and go back to it. Larger ones are kept for reuse when they are freed: the
// first touch of fresh pages costs more than most kernels that write them, and malloc gives free memory at its end back
// to the system, as often as it is freed. Freeing allocates nothing: what is kept hangs in lists through its own
// descriptors.
#include <keyway/core/base/error.h>
#include <keyway/core/base/fork_safe_mutex.h>
#include <keyway/core/device/host_allocator.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace keyway::inline v1 {

namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kLargeBlock = std::size_t{32} << 10;
constexpr std::size_t kMappedBlock = std::size_t{256} << 10;  // mapped by itself, where smaller ones are malloc's
// Of malloc's blocks so much is kept: more may serve other sizes where it is.
constexpr std::size_t kMostOfMalloc = std::size_t{32} << 20;
constexpr std::size_t kHugePage = std::size_t{2} << 20;

// The number in a file, if there is one and it is less than `bytes`; "max" is none.
std::size_t at_most(std::size_t bytes, const std::string& path) {
  if (std::FILE* file = std::fopen(path.c_str(), "re")) {
    unsigned long long limit = 0;
    if (std::fscanf(file, "%llu", &limit) == 1) bytes = std::min<std::size_t>(bytes, limit);
    std::fclose(file);
  }
  return bytes;
}

// Memory that this process may use: the machine's, or that of one of its cgroups if that is less.
std::size_t memory_of_machine() {
  const std::string root = "/sys/fs/cgroup";
  std::size_t bytes =
      static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  bytes = at_most(bytes, root + "/memory/memory.limit_in_bytes");  // version 1
  bytes = at_most(bytes, root + "/memory.max");                    // seen from inside a container
  std::string group;
  if (std::FILE* file = std::fopen("/proc/self/cgroup", "re")) {
    char line[4096];
    while (std::fgets(line, sizeof(line), file) != nullptr) {
      if (std::strncmp(line, "0::/", 4) == 0) group.assign(line + 3, std::strcspn(line + 3, "\n"));
    }
    std::fclose(file);
  }
  for (; group.size() > 1; group.resize(group.rfind('/'))) bytes = at_most(bytes, root + group + "/memory.max");
  return bytes;
}

// Large sizes are rounded up to one of eight steps between powers of two, so that similar ones share blocks.
std::size_t large_size(std::size_t bytes) {
  const std::size_t step = std::bit_floor(bytes) / 8;
  return (bytes + step - 1) / step * step;
}
// Numbers those sizes. Requires: large_size() gave `size`.
constexpr std::size_t kLargeClasses = 64 * 8;
std::size_t large_class(std::size_t size) {
  const auto power = static_cast<std::size_t>(std::bit_width(size) - 1);
  return power * 8 + (size >> (power - 3) & 7);
}

// Describes a large block, in use or kept.
struct LargeBlock {
  void* data;
  std::size_t size;
  LargeBlock* next;  // of the kept ones of its class
};

class HostAllocator final : public Allocator {
 public:
  DataPtr allocate(std::size_t bytes) override {
    const Device cpu(DeviceType::CPU);
    if (bytes == 0) return DataPtr(nullptr, cpu);
    requests_.fetch_add(1, std::memory_order_relaxed);
    KEYWAY_CHECK_AS(OutOfMemory, bytes <= PTRDIFF_MAX / 2, "{} bytes are asked for, more than there can be", bytes);
    const std::size_t size = bytes < kLargeBlock ? bytes : large_size(bytes);
    reserve(size, bytes);
    if (size < kLargeBlock) {
      if (void* data = allocate_small(size)) {
        return DataPtr(data, static_cast<char*>(data) - sizeof(Header), free_small, cpu);
      }
    } else if (LargeBlock* block = allocate_large(size)) {
      return DataPtr(block->data, block, free_large, cpu);
    }
    release(size);
    KEYWAY_FAIL(OutOfMemory, "the system refused {} bytes ({} in use)", bytes, allocated_.load());
  }

  // The CPU reaches all of its memory.
  Allocator& pinned() override { return *this; }
  bool is_pinned(const void*) const override { return true; }

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
    for (LargeBlock*& kept : kept_) {
      while (LargeBlock* block = kept) {
        kept = block->next;
        unmap(block->data, block->size);
        delete block;
      }
    }
    cached_ = cached_unmapped_ = 0;
  }
  // Never destroyed: tensors of static life may be freed after it would be.
  static HostAllocator& instance() {
    static HostAllocator& allocator = *new HostAllocator;
    return allocator;
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

  // A request that is refused changes nothing, or it would have others refused meanwhile.
  void reserve(std::size_t bytes, std::size_t asked) {
    const std::size_t max = limit();
    std::size_t before = allocated_.load(std::memory_order_relaxed);
    do {
      KEYWAY_CHECK_AS(OutOfMemory, bytes <= max && before <= max - bytes,
                      "{} bytes are asked for, but {} of {} are in use", asked, before, max);
    } while (!allocated_.compare_exchange_weak(before, before + bytes, std::memory_order_relaxed));
    std::size_t peak = peak_.load(std::memory_order_relaxed);
    while (before + bytes > peak && !peak_.compare_exchange_weak(peak, before + bytes, std::memory_order_relaxed)) {
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
  static void free_small(void* context) {
    const Header header = *static_cast<Header*>(context);
    instance().release(header.size);
    std::free(header.raw);
  }

  LargeBlock* allocate_large(std::size_t size) {
    {
      const std::lock_guard lock(mutex_);
      LargeBlock*& kept = kept_[large_class(size)];
      if (LargeBlock* block = kept) {
        kept = block->next;
        cached_ -= size;
        if (!is_mapped(size)) cached_unmapped_ -= size;
        ++hits_;
        return block;
      }
    }
    std::unique_ptr<LargeBlock> block(new (std::nothrow) LargeBlock{nullptr, size, nullptr});
    if (!block) return nullptr;
    // What is cached counts against the memory of the machine too.
    if (allocated_.load(std::memory_order_relaxed) + cached_ > limit()) empty_cache();
    block->data = map(size);
    if (block->data == nullptr) {
      empty_cache();
      block->data = map(size);
    }
    return block->data == nullptr ? nullptr : block.release();
  }
  static void free_large(void* context) { instance().free_large_block(static_cast<LargeBlock*>(context)); }
  void free_large_block(LargeBlock* block) {
    const std::size_t size = block->size;
    release(size);
    {
      const std::lock_guard lock(mutex_);
      const bool has_room = is_mapped(size) || cached_unmapped_ + size <= kMostOfMalloc;
      if (kKeepsBlocks && has_room && cached_ + size <= limit() / 4) {
        if (!is_mapped(size)) cached_unmapped_ += size;
        LargeBlock*& kept = kept_[large_class(size)];
        block->next = kept;
        kept = block;
        cached_ += size;
        return;
      }
    }
    unmap(block->data, size);
    delete block;
  }

#if defined(KEYWAY_SANITIZED)
  static constexpr bool kKeepsBlocks = false, kMapsBlocks = false;  // all by malloc, whose blocks the sanitizers watch
#else
  static constexpr bool kKeepsBlocks = true, kMapsBlocks = true;
#endif
  static bool is_mapped(std::size_t size) { return kMapsBlocks && size >= kMappedBlock; }
  static void* map(std::size_t size) {
    if (!is_mapped(size)) return std::aligned_alloc(kAlignment, (size + kAlignment - 1) / kAlignment * kAlignment);
    void* data = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) return nullptr;
    if (size >= 2 * kHugePage) madvise(data, size, MADV_HUGEPAGE);
    return data;
  }
  static void unmap(void* data, std::size_t size) {
    if (is_mapped(size)) {
      munmap(data, size);
    } else {
      std::free(data);
    }
  }

  std::atomic<std::size_t> allocated_{0};
  std::atomic<std::size_t> peak_{0};
  std::atomic<std::size_t> limit_{0};
  std::atomic<std::uint64_t> requests_{0};
  ForkSafeMutex mutex_{LockOrder::HostMemory};
  LargeBlock* kept_[kLargeClasses] = {};
  std::atomic<std::size_t> cached_{0};
  std::size_t cached_unmapped_ = 0;  // of that, what is malloc's
  std::uint64_t hits_ = 0;
};

HostAllocator& instance() { return HostAllocator::instance(); }

}  // namespace

Allocator& host_allocator() { return instance(); }
HostMemoryStats host_memory_stats() { return instance().stats(); }
void reset_peak_host_memory_stats() { instance().reset_peak(); }
void empty_host_cache() { instance().empty_cache(); }
std::size_t set_host_memory_limit(std::size_t bytes) { return instance().set_limit(bytes); }

}  // namespace keyway::inline v1
