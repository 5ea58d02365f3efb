// Listeners hear of each call once, of their thread or of all; profiles add up what they hear.
#include <keyway/core/device/device_guard.h>
#include <keyway/core/device/stream_guard.h>
#include <keyway/dispatch/inspect/device_ranges.h>
#include <keyway/dispatch/inspect/profiler.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/core/fake_device.h>
#include <keyway/tests/dispatch/block.h>
#include <keyway/tests/in_child.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

using namespace keyway;
using namespace keyway::testing;

namespace {

using Lines = std::vector<std::string>;

class EventLog : public CallListener {
 public:
  Lines lines;
  void begin(const CallEvent& call) override {
    lines.push_back("> " + call.op.short_name() + to_string(call.keys) +
                    std::to_string(call.stack.size() - call.first));
  }
  void end(const CallEvent& call, bool threw) noexcept override {
    lines.push_back("< " + call.op.short_name() + (threw ? " threw" : std::to_string(call.stack.size() - call.first)));
  }
};

std::int64_t inner(const TensorBase& self, std::int64_t n) {
  KEYWAY_CHECK(n >= 0, "n is {}", n);
  return self.numel() + n;
}
std::int64_t outer(const TensorBase& self, std::int64_t n) {
  return op("prof::inner").typed<std::int64_t(const TensorBase&, std::int64_t)>().call(self, n);
}
std::int64_t passes_inner_on(DispatchKeySet keys, const TensorBase& self, std::int64_t n) {
  return op("prof::inner")
      .typed<std::int64_t(const TensorBase&, std::int64_t)>()
      .redispatch(keys & kAfterAutograd, self, n);
}

Block profiled() {
  return Block()
      .def("prof::inner(Tensor self, int n) -> int")
      .def("prof::outer(Tensor self, int n) -> int")
      .impl("prof::inner", DispatchKey::CPU, inner)
      .impl("prof::inner", DispatchKey::Autograd, passes_inner_on)
      .impl("prof::outer", DispatchKey::CompositeImplicitAutograd, outer);
}

std::int64_t call(const char* name, std::int64_t n = 0) {
  return op(name).typed<std::int64_t(const TensorBase&, std::int64_t)>().call(tensor(), n);
}

}  // namespace

TEST_CASE("a thread's listener hears of its calls, once each, and of nobody else's") {
  const RegistrationHandle handle = profiled().commit();
  const auto log = std::make_shared<EventLog>();
  {
    const ThreadListenerGuard listening(log);
    CHECK(call("prof::outer") == 6);
    CHECK(log->lines == Lines{"> prof::outer{CPU}2", "> prof::inner{CPU}2", "< prof::inner1", "< prof::outer1"});
    log->lines.clear();
    const IncludeDispatchKeyGuard include(kAutogradKeys);
    CHECK(call("prof::inner") == 6);
    CHECK(log->lines == Lines{"> prof::inner{AutogradCPU, CPU}2", "< prof::inner1"});
    log->lines.clear();
    std::thread([] { call("prof::inner"); }).join();
    CHECK(log->lines.empty());
    CHECK_THROWS_AS(call("prof::inner", -1), Error);
    CHECK(log->lines == Lines{"> prof::inner{AutogradCPU, CPU}2", "< prof::inner threw"});
  }
  log->lines.clear();
  call("prof::outer");
  CHECK(log->lines.empty());
  CHECK(op("prof::inner").entry().table().info != nullptr);
}

TEST_CASE("several listeners of a thread hear, the latest first") {
  const RegistrationHandle handle = profiled().commit();
  const auto first = std::make_shared<EventLog>(), second = std::make_shared<EventLog>();
  const ThreadListenerGuard one(first);
  {
    const ThreadListenerGuard two(second);
    call("prof::inner");
  }
  call("prof::inner");
  CHECK(first->lines.size() == 4);
  CHECK(second->lines.size() == 2);
}

TEST_CASE("a listener of all threads hears of each call once, whatever keys it passes") {
  const RegistrationHandle handle = profiled().commit();
  const auto log = std::make_shared<EventLog>(), other = std::make_shared<EventLog>();
  {
    const ObserverHandle listening = listen_to_all_threads(log);
    const ObserverHandle too = listen_to_all_threads(other);
    std::thread([] {
      const IncludeDispatchKeyGuard include(kAutogradKeys);
      call("prof::outer");
    }).join();
    CHECK(log->lines == Lines{"> prof::outer{AutogradCPU, CPU}2", "> prof::inner{AutogradCPU, CPU}2", "< prof::inner1",
                              "< prof::outer1"});
    CHECK(other->lines == log->lines);
  }
  log->lines.clear();
  call("prof::outer");
  CHECK(log->lines.empty());
}

TEST_CASE("a profile has a row for each operator and way, with times that add up") {
  const RegistrationHandle handle = profiled().commit();
  const auto profile = std::make_shared<Profile>(Profile::Options{.events = true, .shapes = true});
  {
    const ThreadListenerGuard listening(profile);
    for (int i = 0; i < 4; ++i) call("prof::outer", i);
    const IncludeDispatchKeyGuard include(kAutogradKeys);
    call("prof::inner");
    CHECK_THROWS_AS(call("prof::inner", -1), Error);
  }
  const std::vector<Profile::Row> rows = profile->rows(Profile::Column::Op);
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].op == "prof::inner");
  CHECK(rows[0].keys == "AutogradCPU, CPU");
  CHECK(rows[0].calls == 2);
  CHECK(rows[1].keys == "CPU");
  CHECK(rows[1].calls == 4);
  CHECK(rows[2].op == "prof::outer");
  CHECK(rows[2].keys == "CompositeImplicitAutograd");
  CHECK(rows[2].total_seconds >= rows[2].self_seconds + rows[1].total_seconds - 1e-9);
  CHECK(rows[1].self_seconds == rows[1].total_seconds);
  CHECK(profile->rows(Profile::Column::Calls)[0].calls == 4);
  CHECK(profile->rows(Profile::Column::Total)[0].total_seconds >=
        profile->rows(Profile::Column::Total)[1].total_seconds);
  const std::string table = profile->table(Profile::Column::Op, 1, 2);
  CHECK(table.find("prof::inner                              1.0") != std::string::npos);
  CHECK(table.find("2 others") != std::string::npos);

  const nlohmann::json trace = nlohmann::json::parse(profile->trace());
  REQUIRE(trace.at("traceEvents").size() == 10);
  const nlohmann::json event = trace.at("traceEvents").at(0);
  CHECK(event.at("name") == "prof::inner");
  CHECK(event.at("ph") == "X");
  CHECK(event.at("args").at("arguments") == "self Tensor float32[2, 3] on cpu, n 0");
  CHECK(trace.at("traceEvents").at(1).at("ts") <= event.at("ts"));
  CHECK(trace.at("traceEvents").at(9).at("args").at("threw") == true);
}

namespace {

// Devices whose work is counted; the operator on_npu queues `n` pieces of it, and twice_on_npu one more.
FakeDevices* busy = nullptr;

std::int64_t queue_pieces(const TensorBase& self, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) busy->queue(current_stream(self.device()));
  return n;
}
std::int64_t queue_twice(const TensorBase& self, std::int64_t n) {
  const auto on_npu = op("prof::on_npu").typed<std::int64_t(const TensorBase&, std::int64_t)>();
  queue_pieces(self, 1);
  return on_npu.call(self, n) + on_npu.call(self, n);
}

struct BusyDevices {
  FakeDevices npu;
  DeviceGuardRegistration guard = register_device_guard(npu);
  FakeAllocator allocator{npu};
  RegistrationHandle ops = Block()
                               .def("prof::on_npu(Tensor self, int n) -> int")
                               .def("prof::twice_on_npu(Tensor self, int n) -> int")
                               .impl("prof::on_npu", runtime_key(Functionality::Dense, npu.type()), queue_pieces)
                               .impl("prof::on_npu", DispatchKey::CPU, inner)
                               .impl("prof::twice_on_npu", DispatchKey::CompositeImplicitAutograd, queue_twice)
                               .commit();

  BusyDevices() {
    busy = &npu;
    set_allocator(npu.type(), &allocator);
  }
  ~BusyDevices() { set_allocator(npu.type(), nullptr); }

  TensorBase tensor() const {
    const DeviceGuard on(npu.device(1));
    return make_tensor({2}, kFloat, npu.device(1));
  }
  std::int64_t call(const char* name, const TensorBase& self) const {
    return op(name).typed<std::int64_t(const TensorBase&, std::int64_t)>().call(self, 3);
  }
};

}  // namespace

TEST_CASE("a profile has what calls take on their devices, by events in the current stream") {
  BusyDevices devices;
  const TensorBase x = devices.tensor();
  const StreamGuard stream(new_stream(x.device()));
  const auto profile = std::make_shared<Profile>(Profile::Options{.device_times = true});
  {
    const ThreadListenerGuard listening(profile);
    devices.call("prof::twice_on_npu", x);
    devices.call("prof::on_npu", x);
    devices.call("prof::on_npu", tensor());
    devices.npu.captured = current_stream(x.device());
    devices.call("prof::on_npu", x);  // has no time of its own
  }
  devices.npu.finish(current_stream(x.device()));
  const std::vector<Profile::Row> rows = profile->rows(Profile::Column::DeviceTotal);
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].op == "prof::on_npu");
  CHECK(rows[0].calls == 4);
  CHECK(rows[0].device_total_seconds == Approx(0.009));
  CHECK(rows[0].device_self_seconds == Approx(0.009));
  CHECK(rows[1].op == "prof::twice_on_npu");
  CHECK(rows[1].device_total_seconds == Approx(0.007));
  CHECK(rows[1].device_self_seconds == Approx(0.001));
  CHECK(rows[2].keys == "CPU");
  CHECK(rows[2].device_total_seconds == 0);
  CHECK(profile->rows(Profile::Column::DeviceSelf)[1].device_total_seconds == Approx(0.007));
  const std::string table = profile->table();
  CHECK(table.find("device self device total") != std::string::npos);
  CHECK(Profile().table().find("device") == std::string::npos);
  CHECK(devices.npu.live_events() == 0);
}

TEST_CASE("who waits for the devices of a profile keeps no other profile waiting, and no fork") {
  BusyDevices devices;
  const TensorBase x = devices.tensor();
  const StreamGuard stream(new_stream(x.device()));
  const auto profile = std::make_shared<Profile>(Profile::Options{.device_times = true});
  {
    const ThreadListenerGuard listening(profile);
    devices.call("prof::on_npu", x);
  }
  std::atomic<int> heard{0};
  std::thread other;
  devices.npu.while_waiting = [&] {
    if (heard == 0) {
      other = std::thread([&] {
        const auto own = std::make_shared<Profile>(Profile::Options{.events = true});
        {
          const ThreadListenerGuard listening(own);
          devices.call("prof::on_npu", testing::tensor());
        }
        const bool forked = in_child([] { return true; });
        heard = forked && own->rows().size() == 1 && !own->trace().empty() ? 1 : -1;
      });
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (heard == 0 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    }
    CHECK(heard == 1);
    devices.npu.finish(current_stream(x.device()));
  };
  const std::vector<Profile::Row> rows = profile->rows();
  other.join();
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].device_total_seconds == Approx(0.003));
}

TEST_CASE("calls are ranges for the tools that watch a type of devices") {
  BusyDevices devices;
  const TensorBase x = devices.tensor();
  {
    const ThreadListenerGuard listening(std::make_shared<DeviceRanges>(devices.npu.type()));
    devices.npu.asked();
    devices.call("prof::twice_on_npu", x);
    CHECK(devices.npu.asked() == Lines{"range prof::twice_on_npu", "range prof::on_npu", "range ends",
                                       "range prof::on_npu", "range ends", "range ends"});
  }
  const ThreadListenerGuard nobody(std::make_shared<DeviceRanges>(register_device_type("nobody")));
  devices.call("prof::on_npu", x);
}
