// The CUDA backend as libkeyway loads it. What needs a device is skipped where there is none.
#include <keyway/core/allocator.h>
#include <keyway/core/base/error.h>
#include <keyway/core/device_guard.h>
#include <keyway/core/event.h>
#include <keyway/core/stream_guard.h>
#include <keyway/keyway.h>
#include <keyway/tests/catch.h>

#include <string>

using namespace keyway;
using testing::error_of;

namespace {

bool has_device() { return device_count(kCUDA) > 0; }

}  // namespace

TEST_CASE("the backend is there when a CUDA device is first asked for") {
  CHECK(find_device_guard_impl(kCUDA) == nullptr);
  CHECK(device_count(kCUDA) >= 0);
  REQUIRE(find_device_guard_impl(kCUDA) != nullptr);
  CHECK(find_device_guard_impl(kCUDA)->type() == kCUDA);
}

TEST_CASE("without a device, all that needs one says why there is none") {
  if (has_device()) return;
  const std::string why = "there is no cuda device: ";
  for (const std::string& text :
       {error_of([] { (void)current_device(kCUDA); }), error_of([] { const DeviceGuard guard(Device("cuda:0")); }),
        error_of([] { synchronize(Device(kCUDA)); }), error_of([] { (void)new_stream(kCUDA); }),
        error_of([] { (void)get_allocator(kCUDA).allocate(8); }), error_of([] { (void)empty({2}, kCUDA); })}) {
    INFO(text);
    const auto at = text.find(why);
    REQUIRE(at != std::string::npos);
    CHECK(text.size() > at + why.size() + 10);
  }
  CHECK(error_of([] { (void)empty({2}, kCUDA); }).find("empty") != std::string::npos);
}

TEST_CASE("memory of a device comes back for the same stream, and not for another") {
  if (!has_device()) return;
  Allocator& allocator = get_allocator(kCUDA);
  void* first = nullptr;
  {
    const DataPtr data = allocator.allocate(1000);
    first = data.get();
    CHECK(data.device() == Device("cuda:0"));
  }
  CHECK(allocator.allocate(1000).get() == first);
  const StreamGuard other(new_stream(kCUDA));
  CHECK(allocator.allocate(1000).get() != first);
}

TEST_CASE("streams of a device and their events") {
  if (!has_device()) return;
  const Stream stream = new_stream(kCUDA), urgent = new_stream(kCUDA, -1);
  CHECK(!stream.is_default());
  CHECK(stream != urgent);
  CHECK(current_stream(kCUDA).is_default());
  {
    const StreamGuard guard(stream);
    CHECK(current_stream(kCUDA) == stream);
  }
  CHECK(current_stream(kCUDA).is_default());
  Event begin(kCUDA, true), end(kCUDA, true);
  begin.record(stream);
  end.block(urgent);
  end.record(stream);
  end.synchronize();
  CHECK(end.query());
  CHECK(begin.elapsed_time(end) >= 0);
  synchronize(Device(kCUDA));
  CHECK_THROWS_AS(StreamGuard(Stream(Device("cuda:0"), 1'000'000)), Error);
}
