#include <keyway/backends/cuda/caching_host_allocator.h>
#include <keyway/tests/backends/cuda/simulated_streams.h>
#include <keyway/tests/campaign.h>

#include <random>

using namespace keyway;
using namespace keyway::testing;
using cuda::CachingHostAllocator;

namespace {

constexpr StreamId kNobody = -1;

class SimulatedHost final : public SimulatedStreams<cuda::HostMemory> {
 public:
  using SimulatedStreams::SimulatedStreams;
};

Stream stream_of(int device, StreamId number) {
  return Stream(Device(kCUDA, static_cast<std::int8_t>(device)), number);
}

// A copy of a stream that has the bytes, of which the allocator is told.
void copy_from(SimulatedHost& host, CachingHostAllocator& allocator, Stream stream, void* data, std::size_t size) {
  host.use(SimulatedHost::number(stream), data, size);
  allocator.record_stream(data, stream);
}

}  // namespace

TEST_CASE("pinned memory, random traces: no overlap, no loss, and no byte before the copies that use it are done") {
  SimulatedHost host(400 * kMiB);
  CachingHostAllocator allocator(host);
  std::mt19937_64 rng(11);
  const auto random = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(rng);
  };
  std::map<char*, std::size_t> held;
  std::size_t bytes = 0, refused = 0;
  const int steps = campaign(200'000);
  for (int i = 0; i < steps; ++i) {
    const std::int64_t what = random(0, 99);
    if (what < 50) {
      const auto size = static_cast<std::size_t>(random(1, random(0, 3) == 0 ? 30 << 20 : 20000));
      char* data = nullptr;
      try {
        data = static_cast<char*>(allocator.allocate(size));
      } catch (const Error& error) {
        REQUIRE(error.kind() == ErrorKind::OutOfMemory);
        ++refused;
      }
      if (data == nullptr) continue;
      const auto after = held.lower_bound(data);
      REQUIRE((after == held.end() || data + size <= after->first));
      REQUIRE((after == held.begin() || std::prev(after)->first + std::prev(after)->second <= data));
      REQUIRE(host.holds(data, size));
      REQUIRE_FALSE(host.is_used_elsewhere(kNobody, data, size));
      held[data] = size;
      bytes += size;
      for (std::int64_t copies = random(0, 2); copies > 0; --copies) {
        copy_from(host, allocator, stream_of(static_cast<int>(random(0, 1)), random(0, 2)), data, size);
      }
    } else if (what < 95 && !held.empty()) {
      const auto at = std::next(held.begin(), random(0, std::min<std::int64_t>(20, std::ssize(held) - 1)));
      allocator.free(at->first);
      bytes -= at->second;
      held.erase(at);
    } else if (random(0, 500) == 0) {
      allocator.empty_cache();
    } else {
      host.work(random(0, 1) * 1000 + random(0, 2), random(1, 20));
    }
    const MemoryStats stats = allocator.stats();
    REQUIRE(stats.requested.current == bytes);
    REQUIRE(stats.reserved.current == host.taken());
    REQUIRE(stats.active.current >= stats.allocated.current);
  }
  CHECK(refused > 0);
  for (const auto& [data, size] : held) allocator.free(data);
  allocator.empty_cache();
  CHECK(host.taken() == 0);
  CHECK(host.live_events() == 0);
  CHECK(host.wrong_frees == 0);
}

TEST_CASE("pinned memory that no stream uses comes back at once, for requests of like size") {
  SimulatedHost host(100 * kMiB);
  CachingHostAllocator allocator(host);
  CHECK(allocator.allocate(0) == nullptr);
  allocator.free(nullptr);
  void* const first = allocator.allocate(5000);
  CHECK(host.taken() == 8192);
  allocator.free(first);
  CHECK(allocator.allocate(4097) == first);
  CHECK(allocator.allocate(4097) != first);
  CHECK(allocator.allocate(9 * kMiB + 1) != nullptr);
  CHECK(host.taken() == 2 * 8192 + 10 * kMiB);
}

TEST_CASE("pinned memory waits for every stream that uses it, of all devices") {
  SimulatedHost host(100 * kMiB);
  CachingHostAllocator allocator(host);
  char* const shared = static_cast<char*>(allocator.allocate(8192));
  const Stream here = stream_of(0, 1), there = stream_of(1, 1);
  host.use(SimulatedHost::number(here), shared, 100);
  host.use(SimulatedHost::number(there), shared + 8000, 100);
  allocator.record_stream(shared + 8191, here);  // any address of the block
  allocator.record_stream(shared, there);
  allocator.record_stream(shared + 8192, stream_of(0, 2));  // of nothing
  allocator.record_stream(&host, stream_of(0, 2));
  allocator.free(shared);
  CHECK(host.live_events() == 2);
  CHECK(allocator.stats().active.current == 8192);
  CHECK(allocator.allocate(8192) != shared);
  host.work(SimulatedHost::number(here), 1);
  CHECK(allocator.allocate(8192) != shared);
  host.work(SimulatedHost::number(there), 1);
  CHECK(allocator.allocate(8192) == shared);
  CHECK(host.live_events() == 0);
  allocator.free(shared);
  CHECK(allocator.allocate(8192) == shared);  // a new owner, whom no stream has used it for
}

TEST_CASE("out of pinned memory: copies are waited for and the cache is given back before a request is refused") {
  SimulatedHost host(10 * kMiB);
  CachingHostAllocator allocator(host);
  void* const held = allocator.allocate(kMiB);
  void* const copied = allocator.allocate(8 * kMiB);
  copy_from(host, allocator, stream_of(0, 0), copied, 8 * kMiB);
  allocator.free(copied);
  CHECK(allocator.allocate(6 * kMiB) != nullptr);
  CHECK(allocator.stats().retries == 1);
  CHECK(error_of([&] { allocator.allocate(4 * kMiB); }) ==
        "out of pinned memory: 4.00 MiB asked for. Held here: 7.00 MiB, of which 7.00 MiB in use and 0 B cached");
  CHECK(error_of([&] { allocator.allocate(SIZE_MAX); }).starts_with("out of pinned memory: "));
  CHECK(allocator.stats().out_of_memory == 2);
  allocator.free(held);
  CHECK(error_of([&] { allocator.free(held); }) == "the pointer is not one of pinned memory that is in use");
}

TEST_CASE("pinned memory that is freed while the device fails stays until events say that nobody uses it") {
  SimulatedHost host(10 * kMiB);
  {
    CachingHostAllocator allocator(host);
    void* const shared = allocator.allocate(4096);
    copy_from(host, allocator, stream_of(0, 1), shared, 4096);
    host.fails = true;
    allocator.free(shared);
    CHECK_THROWS_AS(allocator.allocate(4096), Error);
    host.fails = false;
    CHECK(allocator.allocate(4096) != shared);
    host.work_all();
    CHECK(allocator.allocate(4096) == shared);
  }
  CHECK(host.live_events() == 0);
}

TEST_CASE("pinned memory that is freed while a stream that uses it is captured waits for the end of the capture") {
  SimulatedHost host(10 * kMiB);
  CachingHostAllocator allocator(host);
  void* const shared = allocator.allocate(4096);
  const Stream captured = stream_of(1, 1), other = stream_of(0, 1);
  copy_from(host, allocator, captured, shared, 4096);
  copy_from(host, allocator, other, shared, 4096);
  host.captured.insert(SimulatedHost::number(captured));
  allocator.free(shared);
  CHECK(host.live_events() == 1);
  host.work(SimulatedHost::number(other), 1);
  CHECK(allocator.allocate(4096) != shared);
  CHECK(host.live_events() == 0);
  host.captured.clear();
  CHECK(allocator.allocate(4096) != shared);
  host.work_all();
  CHECK(allocator.allocate(4096) == shared);
}
