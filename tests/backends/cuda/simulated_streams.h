// Streams and memory of the test's own: addresses without memory, streams whose work is done when the test says so, and
// a record of which work still uses which bytes.
#pragma once

#include <keyway/core/base/error.h>
#include <keyway/core/device/stream.h>
#include <keyway/tests/catch.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace keyway::inline v1::testing {

inline constexpr std::size_t kMiB = std::size_t{1} << 20;

// `Memory` is the interface of an allocator: memory, and events of streams.
template <typename Memory>
class SimulatedStreams : public Memory {
 public:
  // A stream has its number, and 1000 more for each device before its own.
  static StreamId number(Stream stream) { return stream.device().index() * 1000 + stream.id(); }

  explicit SimulatedStreams(std::size_t total) : total_(total) {}

  std::size_t taken() const { return taken_; }
  std::size_t live_events() const { return live_events_; }
  // Queues a piece of work that uses the bytes [data, data + size).
  void use(StreamId stream, const void* data, std::size_t size) {
    uses_.push_back({address(data), address(data) + size, stream, ++queued_[stream]});
  }
  // Does up to `n` pieces of the work that is queued.
  void work(StreamId stream, std::int64_t n) { done_[stream] = std::min(queued_[stream], done_[stream] + n); }
  void work_all() { done_ = queued_; }
  // Whether work of a stream other than `stream` may still use one of the bytes.
  bool is_used_elsewhere(StreamId stream, const void* data, std::size_t size) {
    std::erase_if(uses_, [&](const Use& use) { return use.number <= done_[use.stream]; });
    const std::uintptr_t begin = address(data), end = begin + size;
    for (const Use& use : uses_) {
      if (use.stream != stream && use.begin < end && begin < use.end) return true;
    }
    return false;
  }
  // Whether the machine gave all of the bytes, in one piece.
  bool holds(const void* data, std::size_t size) const {
    auto at = segments_.upper_bound(address(data));
    if (at == segments_.begin()) return false;
    --at;
    return address(data) + size <= at->first + at->second;
  }

  void* allocate(std::size_t bytes) override {
    if (bytes > total_ - taken_) return nullptr;
    // Neighbours, so that a block that grew over its segment's end would be noticed.
    std::uintptr_t start = kBegin;
    for (const auto& [begin, size] : segments_) {
      if (begin - start >= bytes) break;
      start = begin + size;
    }
    segments_[start] = bytes;
    taken_ += bytes;
    return reinterpret_cast<void*>(start);
  }
  void free(void* memory) noexcept override {
    const auto found = segments_.find(address(memory));
    if (found == segments_.end()) {
      ++wrong_frees;
      return;
    }
    taken_ -= found->second;
    segments_.erase(found);
  }

  bool is_capturing(Stream stream) override { return captured.contains(number(stream)); }
  void* record(Stream stream) override {
    KEYWAY_CHECK(!fails, "the device fails");
    ++live_events_;
    return new Event{number(stream), queued_[number(stream)], is_capturing(stream)};
  }
  bool is_done(void* event) override {
    const Event& e = *static_cast<Event*>(event);
    KEYWAY_CHECK(!e.is_of_a_graph, "the event is one of a graph");
    return e.number <= done_[e.stream];
  }
  void wait(void* event) override {
    const Event& e = *static_cast<Event*>(event);
    done_[e.stream] = std::max(done_[e.stream], e.number);
  }
  void destroy(void* event) noexcept override {
    --live_events_;
    delete static_cast<Event*>(event);
  }

  int wrong_frees = 0;
  bool fails = false;           // events
  std::set<StreamId> captured;  // numbers of streams

 protected:
  ~SimulatedStreams() = default;
  const std::size_t total_;

 private:
  static constexpr std::uintptr_t kBegin = std::uintptr_t{1} << 40;
  struct Event {
    StreamId stream;
    std::int64_t number;
    bool is_of_a_graph;
  };
  struct Use {
    std::uintptr_t begin, end;
    StreamId stream;
    std::int64_t number;  // in its stream
  };
  static std::uintptr_t address(const void* data) { return reinterpret_cast<std::uintptr_t>(data); }

  std::size_t taken_ = 0;
  std::size_t live_events_ = 0;
  std::map<std::uintptr_t, std::size_t> segments_;
  std::vector<Use> uses_;
  std::map<StreamId, std::int64_t> queued_, done_;
};

}  // namespace keyway::inline v1::testing
