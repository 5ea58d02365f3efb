// DispatchRecording: which kernel each call of a run was resolved to, to be compared with what the same calls would be
// resolved to now: after an upgrade, with another library loaded, in another build.
//
//   const auto recorder = std::make_shared<DispatchRecorder>();
//   {
//     const ObserverHandle on = observe_calls(recorder);
//     train_step();
//   }
//   save(recorder->recording().text());
//   ...
//   for (const std::string& line : DispatchRecording(text).differences()) std::puts(line.c_str());
#pragma once

#include <keyway/dispatch/registry/observer.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace keyway::inline v1 {

// Calls with the same operator, keys and kernel count as one decision; `key` follows from `keys`.
struct DispatchDecision {
  std::string op;       // full name
  DispatchKeySet keys;  // of the call, without what falls through
  DispatchKey key;      // of the slot
  std::string kernel;   // "CPU add_cpu": what it was registered to, and its name; empty: there was none
  friend auto operator<=>(const DispatchDecision& a, const DispatchDecision& b) {
    return std::tuple(a.op, a.keys.raw(), a.kernel) <=> std::tuple(b.op, b.keys.raw(), b.kernel);
  }
  friend bool operator==(const DispatchDecision& a, const DispatchDecision& b) { return (a <=> b) == 0; }
};

class KEYWAY_API DispatchRecording {
 public:
  DispatchRecording() = default;
  // Of text() of another. Keys are named there, so that numbers of backends may differ. Throws keyway::Error(Parse).
  explicit DispatchRecording(std::string_view text);

  void add(DispatchDecision decision) { ++counts_[std::move(decision)]; }
  // With how often each was made.
  const std::map<DispatchDecision, std::uint64_t>& decisions() const { return counts_; }
  // JSON: {"format": 1, "decisions": [{"op", "keys", "key", "kernel", "count"}]}, sorted.
  std::string text() const;
  // The operators that were called, by full name, sorted: what a selective build needs.
  std::vector<std::string> operators() const;

  // Resolves every decision again, calling nothing. One line for each that comes out otherwise; none: all as recorded.
  std::vector<std::string> differences() const;

 private:
  std::map<DispatchDecision, std::uint64_t> counts_;
};

// Thread-safe: it may observe several threads, and recording() may be asked meanwhile.
class KEYWAY_API DispatchRecorder : public CallObserver {
 public:
  void call(const ObservedCall& call) override;
  // What was recorded so far.
  DispatchRecording recording() const;

 private:
  DispatchRecording recording_;
};

}  // namespace keyway::inline v1
