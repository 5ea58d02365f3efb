// A backend of two devices for tests, of device type npu: it remembers what is asked of it and does no work. The work
// of a stream is a count that the test moves on.
#pragma once

#include <keyway/core/base/error.h>
#include <keyway/core/device/allocator.h>
#include <keyway/core/device/device_guard_impl.h>
#include <keyway/core/device/graph_impl.h>

#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace keyway::inline v1::testing {

class FakeDevices final : public DeviceGuardImplInterface {
 public:
  static constexpr int kCount = 2;
  struct FakeEvent {
    Stream stream;
    int position;  // in its stream
  };

  explicit FakeDevices(DeviceType type = register_device_type("npu")) : type_(type) { here() = {}; }

  Device device(int index) const { return Device(type_, static_cast<std::int8_t>(index)); }

  // What was asked since the last call of this, in order: "set 1", "stream 3 of npu:1", "block ...".
  std::vector<std::string> asked() {
    const std::lock_guard lock(mutex_);
    return std::exchange(asked_, {});
  }
  // Queues a piece of work, and does all that is queued.
  void queue(Stream stream) { ++queued_[stream]; }
  void finish(Stream stream) { done_[stream] = queued_[stream]; }
  std::size_t live_events() const { return events_.size(); }
  void remove_all() { count_ = 0; }
  // The next call that makes a device current throws.
  void fail_next() { fail_next_ = true; }

  DeviceType type() const noexcept override { return type_; }
  int device_count() const noexcept override { return count_; }
  Device get_device() const override { return device(here().device); }
  Device exchange_device(Device next) override {
    const Device before = get_device();
    set_device(next);
    return before;
  }
  void set_device(Device next) override {
    KEYWAY_CHECK(!std::exchange(fail_next_, false), "the fake driver fails");
    unchecked_set_device(next);
  }
  void unchecked_set_device(Device next) noexcept override {
    note("set " + std::to_string(next.index()));
    here().device = next.index();
  }

  Stream get_stream(Device of) const override { return Stream(of, here().streams[index_of(of)]); }
  Stream get_default_stream(Device of) const override { return Stream(of); }
  Stream get_new_stream(Device of, int priority) override {
    const std::lock_guard lock(mutex_);
    asked_.push_back("new stream, priority " + std::to_string(priority));
    return Stream(of, ++last_stream_);
  }
  void* native_handle(Stream of) const override { return reinterpret_cast<void*>(0x1000 + of.id()); }
  Stream exchange_stream(Stream next) override {
    KEYWAY_CHECK(next.id() <= last_stream_, "the fake driver knows no {}", next);
    note(to_string(next));
    return Stream(next.device(), std::exchange(here().streams[index_of(next.device())], next.id()));
  }
  bool query_stream(Stream stream) const override { return done(stream) == queued(stream); }
  void synchronize_stream(Stream stream) const override { note("synchronize " + to_string(stream)); }
  void synchronize_device(Device which) const override { note("synchronize " + to_string(which)); }

  // What is not destroyed before goes with the fake.
  void* create_event(Device of, bool) override { return &events_.emplace_back(FakeEvent{Stream(of), 0}); }
  void destroy_event(void* event, Device) noexcept override {
    events_.remove_if([&](const FakeEvent& each) { return &each == event; });
  }
  void record(void* event, Stream stream) override {
    auto& fake = *static_cast<FakeEvent*>(event);
    fake.stream = stream;
    fake.position = queued(stream);
    note("record in " + to_string(stream));
  }
  void block(void* event, Stream stream) override {
    note(to_string(stream) + " waits for " + to_string(static_cast<FakeEvent*>(event)->stream));
  }
  bool query_event(void* event) const override {
    const auto& fake = *static_cast<FakeEvent*>(event);
    return done(fake.stream) >= fake.position;
  }
  void synchronize_event(void* event) const override {
    note("synchronize event of " + to_string(static_cast<FakeEvent*>(event)->stream));
    if (while_waiting) while_waiting();
  }
  double elapsed_time(void* start, void* end) const override {
    return static_cast<FakeEvent*>(end)->position - static_cast<FakeEvent*>(start)->position;
  }
  bool is_capturing(Stream stream) const override { return captured && *captured == stream; }
  void range_push(const char* name) noexcept override { note("range " + std::string(name)); }
  void range_pop() noexcept override { note("range ends"); }

  std::unique_ptr<GraphImplInterface> new_graph() override { return make_graph(); }

  std::optional<Stream> captured;
  std::function<void()> while_waiting;  // for an event
  std::function<std::unique_ptr<GraphImplInterface>()> make_graph;

 private:
  struct ThreadDevices {
    std::int8_t device = 0;
    std::array<StreamId, kCount> streams{};
  };
  static ThreadDevices& here() {
    static thread_local ThreadDevices devices;
    return devices;
  }
  static std::size_t index_of(Device device) { return static_cast<std::size_t>(device.index()); }
  static int found(const std::unordered_map<Stream, int>& counts, Stream stream) {
    const auto at = counts.find(stream);
    return at == counts.end() ? 0 : at->second;
  }
  int queued(Stream stream) const { return found(queued_, stream); }
  int done(Stream stream) const { return found(done_, stream); }
  void note(std::string what) const {
    const std::lock_guard lock(mutex_);
    asked_.push_back(std::move(what));
  }
  const DeviceType type_;
  mutable std::mutex mutex_;
  mutable std::vector<std::string> asked_;
  std::atomic<StreamId> last_stream_{0};
  std::list<FakeEvent> events_;
  bool fail_next_ = false;
  int count_ = kCount;
  std::unordered_map<Stream, int> queued_;
  std::unordered_map<Stream, int> done_;
};

// Gives host memory under the name of the current device, or of another one.
class FakeAllocator final : public Allocator {
 public:
  explicit FakeAllocator(const FakeDevices& devices) : devices_(devices) {}
  DataPtr allocate(std::size_t bytes) override {
    void* const data = ::operator new(bytes);
    return DataPtr(
        data, data, [](void* context) { ::operator delete(context); }, device.value_or(devices_.get_device()));
  }
  void copy_data(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
  std::optional<Device> device;

 private:
  const FakeDevices& devices_;
};

// Plugs an allocator in as long as it lives.
class PluggedAllocator {
 public:
  PluggedAllocator(DeviceType type, Allocator& allocator) : type_(type), before_(set_allocator(type, &allocator)) {}
  ~PluggedAllocator() { set_allocator(type_, before_); }
  PluggedAllocator(const PluggedAllocator&) = delete;
  PluggedAllocator& operator=(const PluggedAllocator&) = delete;

 private:
  DeviceType type_;
  Allocator* before_;
};

}  // namespace keyway::inline v1::testing
