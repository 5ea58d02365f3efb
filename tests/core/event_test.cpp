#include <keyway/core/device/event.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/core/fake_device.h>

#include <optional>
#include <utility>

using namespace keyway;
using keyway::testing::error_of;
using keyway::testing::FakeDevices;
using Asked = std::vector<std::string>;

TEST_CASE("an event is recorded in one stream and waited for by another, also on another device") {
  FakeDevices npu;
  const auto registration = register_device_guard(npu);
  const Stream a = new_stream(npu.device(0)), b = new_stream(npu.device(1));
  npu.asked();
  Event event(npu.type());
  CHECK(event.query());
  CHECK(!event.device());
  event.block(b);
  event.synchronize();
  CHECK(npu.asked().empty());  // it was not recorded

  npu.queue(a);
  event.record(a);
  CHECK(event.device() == npu.device(0));
  CHECK(!event.query());
  event.record_once(new_stream(npu.device(0)));
  event.block(b);
  npu.finish(a);
  CHECK(event.query());
  event.synchronize();
  CHECK(npu.asked() == Asked{"record in stream 1 of npu:0", "new stream, priority 0",
                             "stream 2 of npu:1 waits for stream 1 of npu:0",
                             "synchronize event of stream 1 of npu:0"});
}

TEST_CASE("an event stays on its device and its device type") {
  FakeDevices npu;
  const auto registration = register_device_guard(npu);
  Event event(npu.type());
  CHECK(error_of([&] { event.record(Stream(kCPU)); }) ==
        "an event of device type npu has nothing to do with the default stream of cpu");
  CHECK(error_of([&] { event.block(Stream(kCPU)); }).find("an event of device type npu has nothing") == 0);
  CHECK(error_of([&] { event.record(Stream(npu.device(2))); }) ==
        "device npu:2 is out of range: the number of npu devices is 2");
  CHECK(!event.was_recorded());
  event.record(Stream(npu.device(1)));
  CHECK(error_of([&] { event.record(Stream(npu.device(0))); }) ==
        "an event of npu:1 cannot be recorded in the default stream of npu:0: an event stays on its device");
  CHECK(error_of([&] { event.block(Stream(npu.device(2))); }).find("device npu:2 is out of range") == 0);
  CHECK(error_of([] { Event{kCUDA}; }).find("no device guard for device type cuda") == 0);
}

TEST_CASE("the time between two events needs timing, and both done") {
  FakeDevices npu;
  const auto registration = register_device_guard(npu);
  const Stream stream = new_stream(npu.device(0));
  Event start(npu.type(), true), end(npu.type(), true), plain(npu.type());
  CHECK(error_of([&] { start.elapsed_time(end); }) == "elapsed_time: the first event was not recorded");
  start.record(stream);
  for (int i = 0; i < 3; ++i) npu.queue(stream);
  end.record(stream);
  plain.record(stream);
  CHECK(error_of([&] { start.elapsed_time(end); }) ==
        "elapsed_time: the second event is not done: call synchronize() first");
  npu.finish(stream);
  CHECK(start.elapsed_time(end) == 3.0);
  CHECK(error_of([&] { start.elapsed_time(plain); }) ==
        "elapsed_time: the second event was made without enable_timing");
  CHECK(error_of([&] { start.elapsed_time(Event(kCPU, true)); }) ==
        "elapsed_time: one event is of device type npu, the other of cpu");
}

TEST_CASE("a moved event is as if it was never recorded") {
  FakeDevices npu;
  const auto registration = register_device_guard(npu);
  const Stream stream = new_stream(npu.device(1));
  npu.queue(stream);
  {
    Event event(npu.type());
    event.record(stream);
    Event taken(std::move(event));
    CHECK(event.query());  // NOLINT: what a moved one is, is said
    CHECK(!taken.query());
    CHECK(taken.device() == npu.device(1));
    Event other(npu.type());
    other.record(Stream(npu.device(0)));
    CHECK(npu.live_events() == 2);
    other = std::move(taken);
    CHECK(npu.live_events() == 1);
    CHECK(!other.query());
    event.record(Stream(npu.device(0)));
    CHECK(npu.live_events() == 2);
  }
  CHECK(npu.live_events() == 0);
}

TEST_CASE("an event that outlives its implementation is left to it, and says so") {
  FakeDevices npu, next;
  auto registration = register_device_guard(npu);
  std::optional<Event> event(npu.type());
  event->record(Stream(npu.device(0)));
  registration.undo();
  const auto second = register_device_guard(next);
  const std::string text = "the event was made by a device guard of npu that is no longer registered";
  CHECK(error_of([&] { event->record(Stream(npu.device(0))); }) == text);
  CHECK(error_of([&] { (void)event->query(); }) == text);
  event.reset();
  CHECK(npu.live_events() == 1);
  CHECK(next.live_events() == 0);
}

TEST_CASE("an event of the CPU is done at once, and tells the time") {
  Event start(kCPU, true), end(kCPU, true);
  start.record(Stream(kCPU));
  CHECK(start.query());
  start.synchronize();
  start.block(Stream(kCPU));
  end.record(current_stream(kCPU));
  const double time = start.elapsed_time(end);
  CHECK(time >= 0);
  CHECK(time < 10'000);
}
