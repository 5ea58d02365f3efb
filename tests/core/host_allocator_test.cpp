#include <keyway/core/base/error.h>
#include <keyway/core/device/host_allocator.h>
#include <keyway/tests/catch.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

using namespace keyway;
using testing::error_of;

TEST_CASE("memory of every size is aligned and counted") {
  const std::size_t before = host_memory_stats().allocated;
  {
    std::vector<DataPtr> all;
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{63}, (std::size_t{256} << 10) - 1,
                                    std::size_t{256} << 10, (std::size_t{256} << 10) + 1, std::size_t{5} << 20}) {
      all.push_back(host_allocator().allocate(bytes));
      CHECK(reinterpret_cast<std::uintptr_t>(all.back().get()) % 64 == 0);
      std::memset(all.back().get(), 7, bytes);
      CHECK(host_memory_stats().allocated >= before + bytes);
    }
  }
  CHECK(host_memory_stats().allocated == before);
  CHECK(host_allocator().allocate(0).get() == nullptr);
}

#if !defined(KEYWAY_SANITIZED)
TEST_CASE("large blocks are used again") {
  empty_host_cache();
  void* first = host_allocator().allocate(3 << 20).get();
  const HostMemoryStats before = host_memory_stats();
  CHECK(before.cached >= 3 << 20);
  const DataPtr again = host_allocator().allocate((3 << 20) - 100);
  CHECK(again.get() == first);
  CHECK(host_memory_stats().cache_hits == before.cache_hits + 1);
  CHECK(host_memory_stats().cached < before.cached);
  empty_host_cache();
  CHECK(host_memory_stats().cached == 0);
}
#endif

TEST_CASE("of blocks that are malloc's so much is kept as serves a computation, and the rest goes back") {
  empty_host_cache();
  constexpr std::size_t kBytes = 40 << 10, kBlocks = 2000;
  {
    std::vector<DataPtr> blocks;
    for (std::size_t i = 0; i < kBlocks; ++i) blocks.push_back(host_allocator().allocate(kBytes));
  }
  const std::size_t cached = host_memory_stats().cached;
#if defined(KEYWAY_SANITIZED)
  CHECK(cached == 0);
#else
  CHECK(cached >= 16 << 20);
  CHECK(cached <= 32 << 20);
  const std::uint64_t hits = host_memory_stats().cache_hits;
  const DataPtr block = host_allocator().allocate(kBytes);
  CHECK(host_memory_stats().cache_hits == hits + 1);
  CHECK(host_memory_stats().cached < cached);
#endif
  empty_host_cache();
  CHECK(host_memory_stats().cached == 0);
}

TEST_CASE("what exceeds the limit is refused at once, and nothing is counted for it") {
  const std::size_t before = host_memory_stats().allocated;
  for (const std::size_t bytes :
       {std::size_t{1} << 46, std::size_t{1} << 62, std::size_t{1} << 63, SIZE_MAX - 10, SIZE_MAX}) {
    const auto start = std::chrono::steady_clock::now();
    CHECK_THROWS_AS(host_allocator().allocate(bytes), Error);
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::milliseconds(50));
  }
  CHECK(host_memory_stats().allocated == before);

  const std::size_t limit = set_host_memory_limit(before + (1 << 20));
  {
    const DataPtr most = host_allocator().allocate(900 << 10);
    const std::string text = error_of([] { host_allocator().allocate(200 << 10); });
    CHECK(text.find("204800 bytes are asked for, but ") == 0);
  }
  CHECK_NOTHROW(host_allocator().allocate(200 << 10));
  set_host_memory_limit(SIZE_MAX);
  CHECK_THROWS_AS(host_allocator().allocate(SIZE_MAX - 10), Error);  // no wrap to a small block
  set_host_memory_limit(limit);
  CHECK(host_memory_stats().limit == limit);
}

TEST_CASE("the peak is the highest use since it was reset") {
  reset_peak_host_memory_stats();
  const std::size_t before = host_memory_stats().peak;
  { const DataPtr block = host_allocator().allocate(1 << 20); }
  CHECK(host_memory_stats().peak >= before + (1 << 20));
  reset_peak_host_memory_stats();
  CHECK(host_memory_stats().peak == before);
}

TEST_CASE("a request that is refused disturbs no other thread's") {
  const std::size_t before = host_memory_stats().allocated;
  std::atomic<bool> stop{false};
  std::thread greedy([&] {
    while (!stop) {
      try {
        host_allocator().allocate(std::size_t{1} << 45);
      } catch (const Error&) {
      }
    }
  });
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    try {
      host_allocator().allocate(std::size_t{1000} << (i % 10));
    } catch (const Error&) {
      ++refused;
    }
  }
  stop = true;
  greedy.join();
  CHECK(refused == 0);
  CHECK(host_memory_stats().allocated == before);
}

TEST_CASE("threads allocate and free without touching each other's memory") {
  const std::size_t before = host_memory_stats().allocated;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int id = 0; id < 4; ++id) {
    threads.emplace_back([&, id] {
      std::mt19937 random(static_cast<unsigned>(id));
      std::vector<std::pair<DataPtr, std::size_t>> live;
      for (int i = 0; i < 500; ++i) {
        if (live.size() > 4) {
          const auto& [block, bytes] = live.front();
          const char* data = static_cast<const char*>(block.get());
          if (data[0] != id || data[bytes - 1] != id) ++wrong;
          live.erase(live.begin());
        }
        const std::size_t bytes = 1 + random() % (1 << 20);
        live.emplace_back(host_allocator().allocate(bytes), bytes);
        char* data = static_cast<char*>(live.back().first.get());
        data[0] = data[bytes - 1] = static_cast<char>(id);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(host_memory_stats().allocated == before);
}
