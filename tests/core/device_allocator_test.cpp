#include <keyway/core/device/device_guard.h>
#include <keyway/core/tensor/device_allocator.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/core/fake_device.h>

using namespace keyway;
using keyway::testing::error_of;
using keyway::testing::FakeAllocator;
using keyway::testing::FakeDevices;
using keyway::testing::PluggedAllocator;

namespace {

// An allocator that remembers what its cache is asked, as text.
class FakeCache final : public DeviceAllocator {
 public:
  explicit FakeCache(const FakeDevices& devices) : memory_(devices) {}
  DataPtr allocate(std::size_t bytes) override { return memory_.allocate(bytes); }

  MemoryStats memory_stats(Device device) override {
    asked = "memory_stats of " + to_string(device);
    return {};
  }
  void reset_peak_memory_stats(Device device) override { asked = "reset_peak_memory_stats of " + to_string(device); }
  void empty_cache() override { asked = "empty_cache"; }
  void set_per_process_memory_fraction(double, Device device) override {
    asked = "set_per_process_memory_fraction of " + to_string(device);
  }
  MemoryInfo get_memory_info(Device device) override {
    asked = "get_memory_info of " + to_string(device);
    return {3, 8};
  }
  void record_stream(const void* data, Device device, Stream stream) override {
    asked = to_string(stream) + " uses memory of " + to_string(device);
    recorded = data;
  }

  std::string asked;
  const void* recorded = nullptr;

 private:
  FakeAllocator memory_;
};

TensorBase tensor_on(Device device, std::int64_t size) {
  return TensorBase(make_intrusive<TensorImpl>(make_storage(static_cast<std::size_t>(size) * 4, device), kFloat,
                                               IntArrayRef({size}), IntArrayRef({1}), size, true));
}

}  // namespace

TEST_CASE("a cache is asked about the current device where none is named") {
  FakeDevices npu;
  const auto registration = register_device_guard(npu);
  FakeCache cache(npu);
  const PluggedAllocator plugged(npu.type(), cache);
  CHECK(find_device_allocator(npu.type()) == &cache);
  const DeviceGuard guard(npu.device(1));
  (void)memory_stats(npu.type());
  CHECK(cache.asked == "memory_stats of npu:1");
  (void)memory_stats(npu.device(0));
  CHECK(cache.asked == "memory_stats of npu:0");
  reset_peak_memory_stats(npu.type());
  CHECK(cache.asked == "reset_peak_memory_stats of npu:1");
  set_per_process_memory_fraction(0.5, npu.type());
  CHECK(cache.asked == "set_per_process_memory_fraction of npu:1");
  CHECK(get_memory_info(npu.type()).free == 3);
  CHECK(cache.asked == "get_memory_info of npu:1");
  CHECK(get_memory_info(npu.device(0)).total == 8);
  CHECK(cache.asked == "get_memory_info of npu:0");
  empty_cache(npu.type());
  CHECK(cache.asked == "empty_cache");
  cache.asked.clear();
  CHECK(error_of([&] { (void)memory_stats(npu.device(7)); }).find("out of range") != std::string::npos);
  npu.remove_all();
  CHECK(error_of([&] { empty_cache(npu.type()); }).starts_with("there is no npu device"));
  CHECK(cache.asked.empty());
}

TEST_CASE("record_stream names the storage's memory, and nothing where there is none") {
  FakeDevices npu;
  const auto registration = register_device_guard(npu);
  FakeCache cache(npu);
  const PluggedAllocator plugged(npu.type(), cache);
  const TensorBase x = tensor_on(npu.device(0), 8);
  const Stream stream = new_stream(npu.device(1));
  record_stream(x, stream);
  CHECK(cache.asked == to_string(stream) + " uses memory of npu:0");
  CHECK(cache.recorded == x.storage().data());
  cache.asked.clear();
  CHECK(error_of([&] { record_stream(x, Stream(kCPU)); }).find("does not use memory of npu:0") != std::string::npos);
  CHECK(error_of([&] { record_stream(x, Stream(npu.device(7))); }).find("out of range") != std::string::npos);
  CHECK(error_of([&] { record_stream(TensorBase(), stream); }) == "record_stream: the tensor is undefined");
  const TensorBase nothing(
      make_intrusive<TensorImpl>(Storage(make_intrusive<StorageImpl>(DataPtr(nullptr, npu.device(0)), 0, true)), kFloat,
                                 IntArrayRef({0}), IntArrayRef({1}), 0, true));
  record_stream(nothing, stream);
  CHECK(cache.asked.empty());
}

TEST_CASE("an allocator without a cache says so, and the CPU's names what it has instead") {
  FakeDevices npu;
  const auto registration = register_device_guard(npu);
  FakeAllocator plain(npu);
  const PluggedAllocator plugged(npu.type(), plain);
  CHECK(find_device_allocator(npu.type()) == nullptr);
  CHECK(error_of([&] { (void)memory_stats(npu.type()); }) ==
        "the allocator of device type npu keeps no memory for reuse");
  for (const std::string& text : {error_of([] { (void)memory_stats(kCPU); }), error_of([] { empty_cache(kCPU); }),
                                  error_of([] { record_stream(tensor_on(kCPU, 300), Stream(kCPU)); })}) {
    CHECK(text.find("host_memory_stats()") != std::string::npos);
  }
  CHECK_THROWS_AS(memory_stats(kCPU), Error);
}
