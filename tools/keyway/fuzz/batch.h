// A batch: some calls of one operator in a child process, so that one that crashes, hangs or eats memory costs no more
// than the child. What the child found comes back through shared memory, call by call.
#pragma once

#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/tools/keyway/fuzz/call_plan.h>
#include <keyway/tools/keyway/fuzz/judge.h>

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace keyway::inline v1::tools {

struct Failure {
  std::string op;
  std::size_t index = 0;
  Outcome outcome;
  std::string call;  // in text
};

struct BatchResult {
  std::size_t next = 0;                         // the first call that was not made
  std::array<std::size_t, kVerdicts> counts{};  // of calls, by verdict
  std::vector<Verdict> verdicts;                // of each call that was made
  std::vector<Failure> failures;                // without `op` and `call`; the first of many
  bool leaked = false;
};

#if defined(KEYWAY_SANITIZED)
inline constexpr double kSlowdown = 5;  // of a sanitizer, for a call whose memory the limit just allows
#else
inline constexpr double kSlowdown = 1;
#endif

// Limits of a child.
struct BatchLimits {
  double seconds = 2 * kSlowdown;             // of processor time a call; five times as much by the clock
  std::size_t bytes = std::size_t{64} << 20;  // of tensors, beyond which the allocator refuses
};

// What a process does before it makes calls on devices of a type. The driver starts in each child anew: one that its
// parent uses is of no use to it. Throws keyway::Error where there is no such device.
void start_device(DeviceType type);

// The arguments of call i.
using Calls = std::function<std::vector<Value>(std::size_t)>;
inline constexpr std::size_t kMaxBatch = 1000;

// Makes the calls [begin, end), or those up to one that ends the child. Throws keyway::Error where a child comes to
// make none, for want of a device. Requires: at most kMaxBatch.
BatchResult run_batch(const Calls& calls, const Judge& judge, std::size_t begin, std::size_t end,
                      const BatchLimits& limits = {});

// Makes one call in this process.
Outcome repeat(const OperatorHandle& op, const CallPlan& plan, std::size_t index, DeviceType device = DeviceType::CPU);

// Whether this is a build in which a batch can tell that it leaked.
bool can_find_leaks();

}  // namespace keyway::inline v1::tools
