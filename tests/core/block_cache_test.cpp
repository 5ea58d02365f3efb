#include <keyway/core/base/error.h>
#include <keyway/core/device/block_cache.h>
#include <keyway/tests/catch.h>

#include <atomic>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

using namespace keyway;

TEST_CASE("blocks of every size are aligned, apart, and all usable") {
  std::vector<std::pair<char*, std::size_t>> blocks;
  for (int round = 0; round < 2; ++round) {
    for (std::size_t bytes = 0; bytes <= 2 * kMaxCachedBlock; bytes += 7) {
      auto* block = static_cast<char*>(allocate_block(bytes));
      CHECK(reinterpret_cast<std::uintptr_t>(block) % kBlockGranule == 0);
      std::memset(block, static_cast<int>(blocks.size() & 0xff), bytes);
      blocks.emplace_back(block, bytes);
    }
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto [block, bytes] = blocks[i];
    for (std::size_t b = 0; b < bytes; ++b) REQUIRE(block[b] == static_cast<char>(i & 0xff));
    free_block(block, bytes);
  }
}

#if !defined(KEYWAY_SANITIZED)
TEST_CASE("a freed block is the next of its size") {
  void* block = allocate_block(100);
  free_block(block, 100);
  CHECK(allocate_block(128) == block);
  free_block(block, 128);
}
#endif

TEST_CASE("a size that no object has is refused") {
  for (const std::size_t bytes : {SIZE_MAX, SIZE_MAX - 62, SIZE_MAX / 2 + 1}) {
    CHECK_THROWS_AS(allocate_block(bytes), Error);
  }
}

TEST_CASE("blocks may be freed by other threads, also as these end") {
  for (int round = 0; round < 20; ++round) {
    std::vector<void*> blocks;
    for (int i = 0; i < 200; ++i) blocks.push_back(allocate_block(64));
    std::thread([&] {
      for (void* block : blocks) free_block(block, 64);
      blocks.clear();
      for (int i = 0; i < 200; ++i) blocks.push_back(allocate_block(64));
    }).join();
    CHECK(std::set<void*>(blocks.begin(), blocks.end()).size() == 200);
    for (void* block : blocks) free_block(block, 64);
  }
}

namespace {
std::atomic<bool> late_blocks_are_usable = false;

bool is_usable(void* block) {
  std::memset(block, 0x5a, 64);
  return reinterpret_cast<std::uintptr_t>(block) % kBlockGranule == 0 && static_cast<char*>(block)[63] == 0x5a;
}

// Frees its block, and uses two others, after the thread's cache is gone.
struct Late {
  void* block = nullptr;
  ~Late() {
    free_block(block, 64);
    void* first = allocate_block(64);
    void* second = allocate_block(64);
    late_blocks_are_usable = first != second && is_usable(first) && is_usable(second);
    free_block(first, 64);
    free_block(second, 64);
  }
};
}  // namespace

TEST_CASE("a thread-local object may free and allocate after its thread's cache is gone") {
  std::thread([] {
    thread_local Late late;  // made before the cache, so destroyed after it
    late.block = nullptr;
    late.block = allocate_block(64);
  }).join();
  CHECK(late_blocks_are_usable);
}
