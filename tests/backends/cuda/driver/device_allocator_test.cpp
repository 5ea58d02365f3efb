// What programs ask the cache of a device's memory. What needs a device is skipped where there is none, and what needs
// memory to be kept where sanitized builds do without.
#include <keyway/core/device/cuda_graph.h>
#include <keyway/core/device/stream_guard.h>
#include <keyway/core/tensor/device_allocator.h>
#include <keyway/tests/backends/cuda/driver/compared.h>
#include <keyway/tests/catch.h>

#include <cstdlib>

using namespace keyway;
using testing::error_of;
using testing::keeps_memory;
using testing::lacks_device;

namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
const TensorOptions kBytes = TensorOptions().dtype(kByte).device(Device("cuda:0"));

bool has_cache() { return !lacks_device() && keeps_memory(); }

MemoryStats stats() { return memory_stats(Device("cuda:0")); }

}  // namespace

TEST_CASE("what is allocated rises and falls with tensors, and peaks stay until they are reset") {
  if (!has_cache()) return;
  const MemoryStats before = stats();
  reset_peak_memory_stats(kCUDA);
  {
    const Tensor x = empty({3 * kMiB + 1}, kBytes);
    CHECK(stats().allocated.current == before.allocated.current + 3 * kMiB + 512);
    CHECK(stats().requested.current == before.requested.current + 3 * kMiB + 1);
    CHECK(stats().allocations == before.allocations + 1);
    CHECK(stats().reserved.current >= stats().allocated.current);
  }
  CHECK(stats().allocated.current == before.allocated.current);
  CHECK(stats().frees == before.frees + 1);
  CHECK(stats().allocated.peak == before.allocated.current + 3 * kMiB + 512);
  reset_peak_memory_stats(Device("cuda:0"));
  CHECK(stats().allocated.peak == before.allocated.current);
  CHECK(to_string(stats()).find("allocated") != std::string::npos);
}

TEST_CASE("each device has statistics of its own") {
  if (!has_cache() || device_count(kCUDA) < 2) return;
  const MemoryStats first = stats(), second = memory_stats(Device("cuda:1"));
  const Tensor x = empty({kMiB}, kBytes.device(Device("cuda:1")));
  CHECK(stats().allocated.current == first.allocated.current);
  const DeviceGuard guard(Device("cuda:1"));
  CHECK(memory_stats(kCUDA).allocated.current == second.allocated.current + kMiB);
}

TEST_CASE("empty_cache gives back what nobody uses, and not in a capture") {
  if (!has_cache()) return;
  empty_cache(kCUDA);
  const std::size_t before = stats().reserved.current;
  const Tensor held = empty({30 * kMiB}, kBytes);
  (void)empty({50 * kMiB}, kBytes);
  CHECK(stats().reserved.current == before + 80 * kMiB);
  empty_cache(kCUDA);
  CHECK(stats().reserved.current == before + 30 * kMiB);
  CUDAGraph graph;
  const CUDAGraphCapture capture(graph);
  CHECK(error_of([] { empty_cache(kCUDA); }).starts_with("a graph of cuda:0 is being captured"));
}

TEST_CASE("a fraction of the memory is a limit") {
  if (!has_cache()) return;
  empty_cache(kCUDA);
  set_per_process_memory_fraction(1e-9, kCUDA);
  CHECK_THROWS_AS(empty({100 * kMiB}, kBytes), Error);
  const std::string text = error_of([] { (void)empty({100 * kMiB}, kBytes); });
  set_per_process_memory_fraction(1, Device("cuda:0"));
  CHECK(text.find("out of memory on cuda:0: 100.00 MiB asked") != std::string::npos);
  CHECK(stats().out_of_memory >= 2);
  CHECK(empty({100 * kMiB}, kBytes).defined());
  for (const double wrong : {0.0, -0.5, 1.5}) {
    CHECK(error_of([&] { set_per_process_memory_fraction(wrong, kCUDA); }).find("must be in (0, 1]") !=
          std::string::npos);
  }
}

TEST_CASE("memory that another stream uses is given out again only when that has done its work") {
  if (!has_cache()) return;
  const Device device("cuda:0");
  const Stream own = new_stream(device), other = new_stream(device);
  const StreamGuard guard(own);
  const Tensor here = zeros({16 * kMiB}, TensorOptions().dtype(kByte).pinned_memory(true));
  for (const bool recorded : {false, true}) {
    INFO((recorded ? "recorded" : "not recorded"));
    void* first = nullptr;
    {
      const Tensor x = empty({16 * kMiB}, kBytes);
      first = x.data_ptr();
      {
        const StreamGuard there(other);
        for (int i = 0; i < 8; ++i) Tensor(x).copy_(here, true);  // takes a device longer than what follows the host
      }
      if (recorded) record_stream(x.slice(0, 5, 9), other);  // a view has the memory of its base
    }
    CHECK((empty({16 * kMiB}, kBytes).data_ptr() == first) == !recorded);
    other.synchronize();
    const Tensor one = empty({16 * kMiB}, kBytes), two = empty({16 * kMiB}, kBytes);
    CHECK((one.data_ptr() == first || two.data_ptr() == first));
  }
}

TEST_CASE("a stream of another device may be recorded, and memory of others is nobody's concern") {
  if (lacks_device()) return;
  const Tensor x = empty({kMiB}, kBytes);
  record_stream(x, current_stream(kCUDA));
  record_stream(empty({0}, kBytes), new_stream(kCUDA));
  if (device_count(kCUDA) > 1) {
    const Stream far = new_stream(Device("cuda:1"));
    record_stream(x, far);
  }
  const Storage part(make_intrusive<StorageImpl>(DataPtr(x.data_ptr<std::uint8_t>() + 512, x.device()), 512, false));
  record_stream(TensorBase(make_intrusive<TensorImpl>(part, kByte, IntArrayRef({512}), IntArrayRef({1}), 512, true)),
                new_stream(kCUDA));
}

TEST_CASE("without a cache there is nothing to count") {
  if (lacks_device() || has_cache()) return;
  const Tensor x = empty({kMiB}, kBytes);
  record_stream(x, new_stream(kCUDA));
  CHECK(stats().allocated.current == 0);
  CHECK(stats().reserved.peak == 0);
  empty_cache(kCUDA);
  reset_peak_memory_stats(kCUDA);
}

TEST_CASE("wrong devices and streams are refused") {
  CHECK(error_of([] { (void)memory_stats(kCPU); }).find("host_memory_stats()") != std::string::npos);
  if (lacks_device()) return;
  const Tensor x = ones({2}, kBytes);
  CHECK(error_of([] { (void)memory_stats(Device("cuda:99")); }).find("out of range") != std::string::npos);
  CHECK(error_of([] { reset_peak_memory_stats(Device("cuda:99")); }).find("out of range") != std::string::npos);
  CHECK(error_of([] { set_per_process_memory_fraction(1, Device("cuda:99")); }).find("out of range") !=
        std::string::npos);
  CHECK(error_of([&] { record_stream(x, Stream(kCPU)); }).find("does not use memory of cuda:0") != std::string::npos);
  CHECK(error_of([] { record_stream(ones({2}), current_stream(kCUDA)); }).find("does not use memory of cpu") !=
        std::string::npos);
}
