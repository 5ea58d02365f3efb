// DeferredFrees: blocks of memory that were freed while streams may still use them. Each waits for an event of each of
// these streams.
#pragma once

#include <keyway/backends/cuda/stream_events.h>

#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

namespace keyway::inline v1::cuda {

// What a block has for that.
template <typename Block>
struct DeferredFree {
  std::vector<Stream> guests{};  // streams that may use it, and whose events it has not got yet
  int events = 0;                // that it waits for
  Block* deferred = nullptr;     // the next one without all of its events

  void add_guest(Stream stream) {
    for (const Stream guest : guests) {
      if (guest == stream) return;
    }
    guests.push_back(stream);
  }
};

// `Block` has a base DeferredFree<Block>.
template <typename Block>
class DeferredFrees {
 public:
  // Requires: `events` outlives this.
  explicit DeferredFrees(StreamEvents& events) : events_(events) {}

  // Takes no memory: what is freed here gets its events with the next guard().
  void add(Block* block) noexcept { block->deferred = std::exchange(deferred_, block); }

  // Records an event for each guest in which no graph is captured. Throws keyway::Error where one fails; what is left
  // is tried again next time.
  void guard() {
    for (Block** at = &deferred_; *at != nullptr;) {
      guard(*at);
      if ((*at)->guests.empty()) {
        *at = (*at)->deferred;
      } else {
        at = &(*at)->deferred;
      }
    }
  }

  // Calls `back` for each block that nobody uses any more.
  template <typename Back>
  void collect(Back&& back) {
    for (auto& [stream, queue] : pending_) {
      while (!queue.empty() && events_.is_done(queue.front().event)) finish(queue, back);
    }
  }

  // The same for all that have their events, once these have come.
  template <typename Back>
  void wait(Back&& back) {
    for (auto& [stream, queue] : pending_) {
      while (!queue.empty()) {
        events_.wait(queue.front().event);
        finish(queue, back);
      }
    }
  }

 private:
  struct Pending {
    void* event;
    Block* block;
  };
  using Queue = std::deque<Pending>;

  void guard(Block* block) {
    for (std::size_t i = block->guests.size(); i-- > 0;) {
      const Stream guest = block->guests[i];
      if (events_.is_capturing(guest)) continue;
      Queue& queue = pending_[guest];
      queue.push_back({nullptr, block});
      try {
        queue.back().event = events_.record(guest);
      } catch (...) {
        queue.pop_back();
        throw;
      }
      ++block->events;
      block->guests.erase(block->guests.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  template <typename Back>
  void finish(Queue& queue, Back&& back) {
    const Pending pending = queue.front();
    queue.pop_front();
    events_.destroy(pending.event);
    if (--pending.block->events == 0 && pending.block->guests.empty()) back(pending.block);
  }

  StreamEvents& events_;
  std::unordered_map<Stream, Queue> pending_;  // each in the order of its events
  Block* deferred_ = nullptr;
};

}  // namespace keyway::inline v1::cuda
