#include <keyway/backends/cuda/caching_allocator.h>
#include <keyway/tests/backends/cuda/simulated_device.h>
#include <keyway/tests/campaign.h>

#include <algorithm>
#include <random>

using namespace keyway;
using namespace keyway::testing;
using cuda::CachingAllocator;
using cuda::PoolId;

namespace {

Stream here(StreamId number) { return Stream(Device(kCUDA, 0), number); }

// A caller's memory.
struct Held {
  char* data;
  std::size_t size;
  StreamId stream;
};

// Bytes that a graph may read and write whenever it is replayed, as intervals that do not touch.
class GraphMemory {
 public:
  void add(std::uintptr_t begin, std::uintptr_t end) {
    auto at = parts_.upper_bound(begin);
    if (at != parts_.begin() && std::prev(at)->second >= begin) --at;
    while (at != parts_.end() && at->first <= end) {
      begin = std::min(begin, at->first);
      end = std::max(end, at->second);
      at = parts_.erase(at);
    }
    parts_.emplace(begin, end);
  }
  bool meets(std::uintptr_t begin, std::uintptr_t end) const {
    const auto after = parts_.lower_bound(end);
    return after != parts_.begin() && std::prev(after)->second > begin;
  }

 private:
  std::map<std::uintptr_t, std::uintptr_t> parts_;
};

// Random callers of an allocator, who check what they get.
class Trace {
 public:
  Trace(SimulatedDevice& device, CachingAllocator& allocator, std::uint64_t seed)
      : device_(device), allocator_(allocator), rng_(seed) {}

  void step() {
    const std::int64_t what = random(0, 99);
    if (what < 45) {
      allocate();
    } else if (what < 85) {
      free_one();
    } else if (what < 95) {
      const StreamId stream = random(0, kStreams - 1);
      device_.work(stream, random(1, 20));
    } else if (what < 97) {
      capture();
    } else if (captured_.empty() && random(0, 200) == 0) {
      allocator_.empty_cache();
    }
  }
  void finish() {
    for (const auto& [begin, held] : held_) allocator_.free(held.data);
    held_.clear();
    bytes_ = 0;
    while (!captured_.empty()) end_capture(captured_.begin()->first);
    for (const PoolId pool : pools_) allocator_.release_pool(pool);
    device_.work_all();
    allocator_.empty_cache();
  }
  int refused() const { return refused_; }
  bool right() const { return right_; }
  std::size_t bytes() const { return bytes_; }

 private:
  static constexpr StreamId kStreams = 4;

  std::int64_t random(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(rng_);
  }
  std::size_t random_size() {
    const std::int64_t sort = random(0, 9);
    if (sort < 6) return static_cast<std::size_t>(random(1, 4096));
    if (sort < 9) return static_cast<std::size_t>(random(1, 3 << 20));
    return static_cast<std::size_t>(random(1, 40 << 20));
  }

  void allocate() {
    const StreamId stream = random(0, kStreams - 1);
    const std::size_t size = random_size();
    char* data = nullptr;
    try {
      data = static_cast<char*>(allocator_.allocate(size, stream));
    } catch (const Error& error) {
      right_ = right_ && error.kind() == ErrorKind::OutOfMemory;
      ++refused_;
      if (!held_.empty()) free_one();
      return;
    }
    const auto begin = reinterpret_cast<std::uintptr_t>(data);
    const auto after = held_.lower_bound(begin);
    const bool apart = (after == held_.end() || begin + size <= after->first) &&
                       (after == held_.begin() || std::prev(after)->first + std::prev(after)->second.size <= begin);
    right_ = right_ && apart && begin % 512 == 0 && device_.holds(data, size) &&
             !device_.is_used_elsewhere(stream, data, size);
    const auto captured = captured_.find(stream);
    const PoolId own = captured == captured_.end() ? 0 : captured->second;
    for (auto& [pool, memory] : graphs_) right_ = right_ && (pool == own || !memory.meets(begin, begin + size));
    if (own != 0) graphs_[own].add(begin, begin + size);
    device_.use(stream, data, size);
    for (std::int64_t guests = random(0, 9) - 7; guests > 0; --guests) {
      const StreamId guest = random(0, kStreams - 1);
      device_.use(guest, data, size);
      allocator_.record_stream(data, here(guest));
    }
    held_.emplace(begin, Held{data, size, stream});
    bytes_ += size;
  }
  void free_one() {
    if (held_.empty()) return;
    auto at = held_.lower_bound(reinterpret_cast<std::uintptr_t>(held_.begin()->second.data) +
                                static_cast<std::uintptr_t>(random(0, 400)) * kMiB);
    if (at == held_.end()) at = held_.begin();
    bytes_ -= at->second.size;
    allocator_.free(at->second.data);
    held_.erase(at);
  }
  // Begins a capture or ends one, or lets a graph go; some graphs share the pool of another.
  void capture() {
    const StreamId stream = random(0, kStreams - 1);
    if (captured_.contains(stream)) return end_capture(stream);
    if (pools_.size() < 3) {
      const PoolId shared = pools_.empty() || random(0, 2) > 0 ? 0 : pools_.back();
      for (const auto& [of, pool] : captured_) {
        if (pool == shared) return;
      }
      const PoolId pool = allocator_.begin_capture(stream, shared);
      ++device_.captures;
      captured_[stream] = pool;
      pools_.push_back(pool);
      return;
    }
    const std::size_t i = static_cast<std::size_t>(random(0, 2));
    const PoolId gone = pools_[i];
    for (const auto& [of, pool] : captured_) {
      if (pool == gone) return;
    }
    allocator_.release_pool(gone);
    pools_.erase(pools_.begin() + static_cast<std::ptrdiff_t>(i));
    if (std::find(pools_.begin(), pools_.end(), gone) == pools_.end()) graphs_.erase(gone);
  }
  void end_capture(StreamId stream) {
    --device_.captures;
    allocator_.end_capture(stream);
    captured_.erase(stream);
  }

  SimulatedDevice& device_;
  CachingAllocator& allocator_;
  std::mt19937_64 rng_;
  std::map<std::uintptr_t, Held> held_;
  std::map<StreamId, PoolId> captured_;
  std::vector<PoolId> pools_;  // one for each graph
  std::map<PoolId, GraphMemory> graphs_;
  std::size_t bytes_ = 0;
  int refused_ = 0;
  bool right_ = true;
};

}  // namespace

TEST_CASE("random traces: no overlap, no loss, and no byte before the work of others on it is done") {
  for (const std::size_t total : {200 * kMiB, 3000 * kMiB}) {
    SimulatedDevice device(total);
    CachingAllocator allocator(device);
    Trace trace(device, allocator, 7);
    const int steps = campaign(500'000);
    for (int i = 0; i < steps; ++i) {
      trace.step();
      if (i % 1000 != 0) continue;
      const MemoryStats stats = allocator.stats();
      REQUIRE(trace.right());
      REQUIRE(stats.requested.current == trace.bytes());
      REQUIRE(stats.reserved.current == device.taken());
      REQUIRE(stats.allocated.current >= stats.requested.current);
      REQUIRE(stats.active.current >= stats.allocated.current);
      REQUIRE(stats.reserved.current >= stats.active.current);
    }
    CHECK((total > 1000 * kMiB || trace.refused() > 0));
    trace.finish();
    CHECK(trace.right());
    CHECK(device.taken() == 0);
    CHECK(device.live_events() == 0);
    CHECK(device.wrong_frees == 0);
    CHECK(device.spoiled == 0);
    CHECK(allocator.stats().active.current == 0);
  }
}

TEST_CASE("a stream gets its own block back at once, another stream never") {
  SimulatedDevice device(1000 * kMiB);
  CachingAllocator allocator(device);
  void* const first = allocator.allocate(1000, 1);
  device.use(1, first, 1000);
  allocator.free(first);
  CHECK(allocator.allocate(900, 1) == first);
  allocator.free(first);
  CHECK(allocator.allocate(900, 2) != first);
}

TEST_CASE("a block that another stream uses waits for its event") {
  SimulatedDevice device(1000 * kMiB);
  CachingAllocator allocator(device);
  void* const shared = allocator.allocate(2000, 1);
  device.use(2, shared, 2000);
  allocator.record_stream(shared, here(2));
  allocator.free(shared);
  CHECK(allocator.stats().allocated.current == 0);
  CHECK(allocator.stats().active.current == 2048);
  void* const other = allocator.allocate(2000, 1);
  CHECK(other != shared);
  device.work_all();
  CHECK(allocator.allocate(2000, 1) == shared);
  CHECK(allocator.stats().active.current == 4096);
}

TEST_CASE("segments have PyTorch's sizes, and blocks of up to a granule's rest are not cut") {
  SimulatedDevice device(1000 * kMiB);
  CachingAllocator allocator(device);
  const auto segment = [&](std::size_t bytes) {
    const std::size_t before = device.taken();
    (void)allocator.allocate(bytes, 0);
    return device.taken() - before;
  };
  CHECK(allocator.allocate(0, 0) == nullptr);
  CHECK(segment(1) == 2 * kMiB);
  CHECK(segment(kMiB) == 0);  // the rest of the same
  CHECK(segment(kMiB) == 2 * kMiB);
  CHECK(segment(kMiB + 1) == 20 * kMiB);
  CHECK(segment(9 * kMiB) == 0);
  CHECK(segment(10 * kMiB) == 10 * kMiB);
  CHECK(segment(11 * kMiB + 1) == 12 * kMiB);
}

TEST_CASE("out of memory gives the cache back first, and then says who holds what") {
  SimulatedDevice device(100 * kMiB);
  CachingAllocator allocator(device);
  void* const held = allocator.allocate(30 * kMiB, 0);
  void* const cached = allocator.allocate(60 * kMiB, 1);
  device.use(2, cached, 60 * kMiB);
  allocator.record_stream(cached, here(2));
  allocator.free(cached);
  CHECK(allocator.allocate(64 * kMiB, 0) != nullptr);
  CHECK(allocator.stats().retries == 1);
  CHECK(error_of([&] { allocator.allocate(40 * kMiB, 3); }) ==
        "out of memory on cuda:0: 40.00 MiB asked for stream 3; of 100.00 MiB the device has 6.00 MiB free. Held here: "
        "94.00 MiB, of which 94.00 MiB in use and 0 B cached; the limit is 100.00 MiB. Held by others: 0 B");
  CHECK(error_of([&] { allocator.allocate(SIZE_MAX, 3); }).starts_with("out of memory on cuda:0: "));
  CHECK(allocator.stats().out_of_memory == 2);
  allocator.free(held);
  CHECK(error_of([&] { allocator.free(held); }) == "the pointer is not one of cuda:0 that is in use");
  allocator.set_fraction(0.5);
  CHECK(error_of([&] { allocator.allocate(8 * kMiB, 3); }).find("the limit is 50.00 MiB") != std::string::npos);
  CHECK(error_of([&] { allocator.set_fraction(0); }).find("must be in (0, 1]") != std::string::npos);
}

TEST_CASE("a graph keeps its memory until it is gone") {
  SimulatedDevice device(1000 * kMiB);
  CachingAllocator allocator(device);
  const PoolId graph = allocator.begin_capture(1);
  void* const inside = allocator.allocate(1000, 1);
  void* const outside = allocator.allocate(1000, 2);
  device.use(2, inside, 1000);
  allocator.record_stream(inside, here(2));
  allocator.free(inside);
  CHECK(device.live_events() == 0);  // a capture forbids them
  allocator.end_capture(1);
  CHECK(device.live_events() == 1);
  device.work_all();
  allocator.free(outside);
  CHECK(allocator.allocate(1000, 1) != inside);  // which a replay writes to
  allocator.empty_cache();
  CHECK(device.holds(inside, 1000));
  allocator.release_pool(graph);
  allocator.empty_cache();
  CHECK_FALSE(device.holds(inside, 1000));
  CHECK(error_of([&] { allocator.release_pool(graph); }).starts_with("there is no memory pool"));
}

TEST_CASE("while a graph is captured nothing is given back to the device") {
  SimulatedDevice device(40 * kMiB);
  CachingAllocator allocator(device);
  allocator.free(allocator.allocate(30 * kMiB, 0));
  const PoolId graph = allocator.begin_capture(1);
  device.captures = 1;
  CHECK(error_of([&] { allocator.allocate(30 * kMiB, 1); }).starts_with("out of memory on cuda:0: "));
  CHECK(error_of([&] { allocator.empty_cache(); }).starts_with("a graph of cuda:0 is being captured"));
  device.captures = 0;
  allocator.end_capture(1);
  CHECK(device.spoiled == 0);
  CHECK(allocator.allocate(30 * kMiB, 1) != nullptr);  // of what the default stream had
  allocator.release_pool(graph);
}

TEST_CASE("the summary has units") {
  CHECK(bytes_text(0) == "0 B");
  CHECK(bytes_text(1023) == "1023 B");
  CHECK(bytes_text(1536) == "1.50 KiB");
  CHECK(bytes_text(std::size_t{5} << 40) == "5.00 TiB");
  SimulatedDevice device(100 * kMiB);
  CachingAllocator allocator(device);
  void* const data = allocator.allocate(3 * kMiB, 0);
  allocator.free(data);
  allocator.reset_peaks();
  CHECK(to_string(allocator.stats()) ==
        "                       now          peak\n"
        "requested              0 B           0 B\n"
        "allocated              0 B           0 B\n"
        "active                 0 B           0 B\n"
        "reserved         20.00 MiB     20.00 MiB\n"
        "1 allocations, 1 frees; 1 segments of the device, 0 given back; 0 retries, 0 refused\n");
}

TEST_CASE("what is freed while the device fails stays until events say that nobody uses it") {
  SimulatedDevice device(64 * kMiB);
  {
    CachingAllocator allocator(device);
    void* const shared = allocator.allocate(1000, 0);
    allocator.record_stream(shared, here(1));
    allocator.record_stream(shared, here(2));
    device.use(1, shared, 1000);
    device.fails = true;
    allocator.free(shared);
    CHECK_THROWS_AS(allocator.allocate(1000, 0), Error);
    device.fails = false;
    void* const other = allocator.allocate(1000, 0);
    CHECK(other != shared);  // stream 1 is not done with it
    device.work_all();
    CHECK(allocator.allocate(1000, 0) == shared);
    CHECK(allocator.stats().allocated.current == 2048);
  }
  CHECK(device.live_events() == 0);
}

TEST_CASE("memory that a captured stream of another device uses waits for the end of the capture") {
  SimulatedDevice device(100 * kMiB);
  CachingAllocator allocator(device);
  const Stream far(Device(kCUDA, 1), 1);
  void* const shared = allocator.allocate(1000, 0);
  allocator.record_stream(shared, far);
  device.captured.insert(SimulatedDevice::number(far));
  allocator.free(shared);
  CHECK(device.live_events() == 0);
  CHECK(allocator.allocate(1000, 0) != shared);
  device.captured.clear();
  CHECK(allocator.allocate(1000, 0) == shared);
}

TEST_CASE("a capture ends where the device fails, and what was freed in it gets its events later") {
  SimulatedDevice device(100 * kMiB);
  CachingAllocator allocator(device);
  const PoolId graph = allocator.begin_capture(1);
  void* const shared = allocator.allocate(1000, 1);
  allocator.record_stream(shared, here(2));
  allocator.free(shared);
  device.fails = true;
  CHECK_NOTHROW(allocator.end_capture(1));
  CHECK_THROWS_AS(allocator.allocate(1000, 1), Error);
  device.fails = false;
  CHECK(allocator.allocate(1000, 1) != nullptr);
  allocator.release_pool(graph);
}
