#include <keyway/core/device/stream_guard.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/core/fake_device.h>

#include <thread>
#include <unordered_set>

using namespace keyway;
using keyway::testing::error_of;
using keyway::testing::FakeDevices;
using Asked = std::vector<std::string>;

TEST_CASE("a stream is its device and its number") {
  constexpr Stream third(Device(kCUDA, 1), 3);
  static_assert(third.device() == Device(kCUDA, 1) && third.id() == 3 && !third.is_default());
  static_assert(Stream(Device(kCUDA, 1)).is_default());
  CHECK(third == Stream("cuda:1", 3));
  CHECK(third != Stream("cuda:1", 4));
  CHECK(third != Stream("cuda:0", 3));
  CHECK(to_string(third) == "stream 3 of cuda:1");
  CHECK(to_string(Stream("cuda:0")) == "default stream of cuda:0");
  CHECK(std::unordered_set<Stream>{third, Stream("cuda:1", 3), Stream("cuda:0", 3), Stream("cuda:1")}.size() == 3);
}

TEST_CASE("a stream needs a device with an index, where there is more than one") {
  CHECK(error_of([] { Stream{"cuda"}; }) ==
        "a stream is of one device, but cuda names none: give it an index, or call current_stream()");
  CHECK(Stream("cpu") == Stream("cpu:0"));
  CHECK(Stream("meta") == Stream("meta:0"));
}

TEST_CASE("a stream's native handle is its backend's to give") {
  FakeDevices devices;
  const DeviceGuardRegistration registered = register_device_guard(devices);
  const Stream stream = new_stream(devices.device(1));
  CHECK(stream.native_handle() == reinterpret_cast<void*>(0x1000 + stream.id()));
  CHECK(error_of([] { (void)Stream(kCPU).native_handle(); }) ==
        "the default stream of cpu has no native handle: the backend of cpu has none to give");
}

TEST_CASE("the CPU has one stream, and its work is always done") {
  const Stream stream = current_stream(kCPU);
  CHECK(stream == Stream(kCPU));
  CHECK(new_stream(kCPU) == stream);
  CHECK(stream.query());
  stream.synchronize();
  const StreamGuard guard(stream);
  CHECK(current_stream(kCPU) == stream);
  CHECK(error_of([] { StreamGuard(Stream(kCPU, 1)); }) ==
        "there is no stream 1 of cpu: a device of type cpu has one stream");
}

TEST_CASE("a stream guard switches stream and device, and nests") {
  FakeDevices npu;
  const auto registration = register_device_guard(npu);
  const Stream first = new_stream(npu.device(0)), second = new_stream(npu.device(1), -1);
  CHECK(npu.asked() == Asked{"new stream, priority 0", "new stream, priority -1"});
  {
    const StreamGuard outer(first);
    CHECK(current_stream(npu.type()) == first);
    {
      const StreamGuard inner(second);
      CHECK(current_device(npu.type()) == npu.device(1));
      CHECK(current_stream(npu.device(1)) == second);
      CHECK(current_stream(npu.device(0)) == first);
      CHECK(inner.original_stream() == first);
      CHECK(inner.replaced_stream() == default_stream(npu.device(1)));
      CHECK(inner.current_stream() == second);
      CHECK(inner.original_device() == npu.device(0));
      CHECK(inner.current_device() == npu.device(1));
    }
    CHECK(current_device(npu.type()) == npu.device(0));
    CHECK(current_stream(npu.device(1)).is_default());
    CHECK(current_stream(npu.device(0)) == first);
  }
  CHECK(current_stream(npu.device(0)).is_default());
}

TEST_CASE("a stream guard that is reset or moved restores what was there first") {
  FakeDevices npu;
  const auto registration = register_device_guard(npu);
  const Stream a = new_stream(npu.device(0)), b = new_stream(npu.device(0)), c = new_stream(npu.device(1));
  {
    StreamGuard guard(a);
    guard.reset_stream(b);
    CHECK(current_stream(npu.device(0)) == b);
    guard.reset_stream(c);
    CHECK(current_stream(npu.device(0)).is_default());
    CHECK(current_stream(npu.type()) == c);
    StreamGuard moved(std::move(guard));
    moved.reset_stream(a);
    CHECK(current_stream(npu.device(1)).is_default());
    CHECK(current_stream(npu.type()) == a);
    moved.reset_stream(Stream(kCPU));
    CHECK(current_stream(npu.type()).is_default());
    moved.reset_stream(c);
  }
  CHECK(current_device(npu.type()) == npu.device(0));
  CHECK(current_stream(npu.device(0)).is_default());
  CHECK(current_stream(npu.device(1)).is_default());
}

TEST_CASE("a stream guard that fails has changed nothing") {
  FakeDevices npu;
  const auto registration = register_device_guard(npu);
  const Stream known = new_stream(npu.device(1));
  const Stream unknown(npu.device(1), 99);
  CHECK(error_of([&] { StreamGuard{unknown}; }) == "the fake driver knows no stream 99 of npu:1");
  CHECK(current_device(npu.type()) == npu.device(0));
  StreamGuard guard(known);
  CHECK_THROWS_AS(guard.reset_stream(unknown), Error);
  CHECK_THROWS_AS(guard.reset_stream(Stream(npu.device(2))), Error);
  npu.fail_next();
  CHECK_THROWS_AS(guard.reset_stream(Stream(npu.device(0))), Error);
  CHECK(current_stream(npu.type()) == known);
  CHECK(guard.current_stream() == known);
}

TEST_CASE("each thread has its own current device and streams") {
  FakeDevices npu;
  const auto registration = register_device_guard(npu);
  const Stream mine = new_stream(npu.device(1));
  const StreamGuard guard(mine);
  bool fresh = false;
  std::thread([&] {
    fresh = current_device(npu.type()) == npu.device(0) && current_stream(npu.device(1)).is_default();
    const StreamGuard theirs(new_stream(npu.device(0)));
    set_device(npu.device(1));
  }).join();
  CHECK(fresh);
  CHECK(current_stream(npu.type()) == mine);
  CHECK(current_stream(npu.device(0)).is_default());
}

TEST_CASE("a stream is asked and waited for through its device's implementation") {
  FakeDevices npu;
  const auto registration = register_device_guard(npu);
  const Stream stream = new_stream(npu.device(1));
  npu.queue(stream);
  CHECK(!stream.query());
  npu.finish(stream);
  CHECK(stream.query());
  npu.asked();
  synchronize(stream);
  synchronize(npu.type());
  synchronize(npu.device(1));
  CHECK(npu.asked() == Asked{"synchronize stream 1 of npu:1", "synchronize npu:0", "synchronize npu:1"});
  CHECK(error_of([&] { Stream(npu.device(2)).synchronize(); }) ==
        "device npu:2 is out of range: the number of npu devices is 2");
}
