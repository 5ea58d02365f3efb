// MemoryProfile: how much memory lives at each time, and which call made it.
//
//   const auto memory = std::make_shared<MemoryProfile>();
//   {
//     const ThreadListenerGuard listening(memory);
//     train_step();
//   }
//   std::cout << memory->table();
//
// It looks at the tensors that calls take and give, and asks no allocator. So calls that nobody profiles cost nothing
// more; and memory that a kernel takes and gives back for itself is not seen. What was freed is noticed when the next
// call begins or ends.
#pragma once

#include <keyway/dispatch/inspect/profiler.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace keyway::inline v1 {

class KEYWAY_API MemoryProfile : public CallListener {
 public:
  using Clock = std::chrono::steady_clock;
  // Where the program is, "model.py:12"; empty if nobody knows.
  using CallSite = std::string (*)();

  // `site` is asked for each memory that a call makes.
  explicit MemoryProfile(CallSite site = nullptr);
  ~MemoryProfile() override;

  void begin(const CallEvent& call) override;
  void end(const CallEvent& call, bool threw) noexcept override;

  // One memory that tensors shared, from the call that made it to the last of them.
  struct Block {
    // The innermost call that gave it, "mm", but for those that only allocate; empty: it was there before a call took
    // it.
    std::string op;
    std::string site;    // where that was called
    std::string tensor;  // that it was seen by first, "float32[2, 3]"
    Device device;
    std::size_t bytes;
    double made;                  // seconds after the profile began
    std::optional<double> freed;  // none: it lives
  };
  // In the order in which they were seen.
  std::vector<Block> blocks() const;

  struct Peak {
    double at = 0;  // seconds after the profile began
    std::size_t bytes = 0;
  };
  // The most that lived at one time on a device.
  Peak peak(Device device) const;

  // For people: of each device, what lived when the most did, by operator and place; `most` rows, the largest first.
  std::string table(std::size_t most = 20) const;
  // The blocks as JSON: [{"op": ..., "site": ..., "tensor": ..., "device": ..., "bytes": ..., "made": ..., "freed":
  // ...}], with null for a block that lives.
  std::string json() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace keyway::inline v1
