// InFlightCalls: the calls that are under way in kernels that may be taken away again.
//
// The kernels of a library block that can be undone are marked in their tables (kCounted). A call that finds a mark
// counts itself in where its kernel says (KernelInfo::in_flight) and reads the operator's table again. If the table is
// unchanged, the kernel stays until the call counts itself out; if it changed, the call counts itself out and starts
// again with the new table. Undo publishes tables without its kernels first and then waits until no call is counted in:
// the callables, and the library whose code they are, may go.
//
// Both sides write one variable and then read the other's (the count and the table): sequentially consistent, so that
// one of them sees the other. Counts are kept by stripes of threads, so that calls of different threads share no cache
// line.
#pragma once

#include <keyway/dispatch/call/kernel.h>
#include <keyway/dispatch/call/operator_entry.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace keyway::inline v1 {

// Of one library block.
class InFlightCalls {
 public:
  InFlightCalls() = default;
  InFlightCalls(const InFlightCalls&) = delete;
  InFlightCalls& operator=(const InFlightCalls&) = delete;

  void enter() noexcept;
  void leave() noexcept;
  // How many there are at this moment.
  std::int64_t count() const noexcept;
  // Until every call that could have found a kernel of the block is over. Requires: no table has one any more, and this
  // thread is in none of its calls.
  void wait() const;
  // In a forked child, whose only thread is the one that forked: no call of others is under way there.
  void restart() noexcept;

 private:
  static constexpr std::size_t kStripes = 16;
  struct alignas(64) Stripe {
    std::atomic<std::int64_t> calls{0};
  };
  Stripe stripes_[kStripes];
};

// The kernel that a call is to reach, which cannot go while this lives, on the stack of the call's thread.
class KEYWAY_API KernelUseGuard {
 public:
  KernelUseGuard(const OperatorEntry& op, DispatchKeySet keys);
  ~KernelUseGuard();
  KernelUseGuard(const KernelUseGuard&) = delete;
  KernelUseGuard& operator=(const KernelUseGuard&) = delete;

  const Table& table() const { return *table_; }
  Table::Found found() const { return found_; }

  // Whether this thread is in one of these calls.
  static bool is_within(const InFlightCalls& calls);
  // In a forked child: counts the calls of this thread in again, after all counts were restarted.
  static void recount() noexcept;

 private:
  const Table* table_;
  Table::Found found_;
  InFlightCalls* in_flight_;  // null: the kernel is there for good
  const KernelUseGuard* outer_;
};

}  // namespace keyway::inline v1
