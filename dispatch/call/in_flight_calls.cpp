#include <keyway/dispatch/call/in_flight_calls.h>

#include <chrono>
#include <thread>

namespace keyway::inline v1 {

namespace {

// Of this thread, the latest.
constinit thread_local const KernelUseGuard* innermost = nullptr;

std::size_t thread_number() {
  static constinit std::atomic<std::size_t> next{0};
  thread_local const std::size_t number = next.fetch_add(1, std::memory_order_relaxed);
  return number;
}

}  // namespace

void InFlightCalls::enter() noexcept { stripes_[thread_number() % kStripes].calls.fetch_add(1); }

void InFlightCalls::leave() noexcept { stripes_[thread_number() % kStripes].calls.fetch_sub(1); }

std::int64_t InFlightCalls::count() const noexcept {
  std::int64_t calls = 0;
  for (const Stripe& stripe : stripes_) calls += stripe.calls.load();
  return calls;
}

// Each stripe need be seen empty once: who counts itself in afterwards reads the new table and leaves again.
void InFlightCalls::wait() const {
  constexpr int kYields = 100;
  for (const Stripe& stripe : stripes_) {
    for (int i = 0; stripe.calls.load() != 0; ++i) {
      if (i < kYields) {
        std::this_thread::yield();
      } else {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
    }
  }
}

void InFlightCalls::restart() noexcept {
  for (Stripe& stripe : stripes_) stripe.calls.store(0);
}

KernelUseGuard::KernelUseGuard(const OperatorEntry& op, DispatchKeySet keys) : outer_(innermost) {
  for (;;) {
    table_ = &op.latest_table();
    found_ = table_->find_past_mark(keys);
    in_flight_ = table_->info[found_.kernel].in_flight;
    if (in_flight_ == nullptr) break;
    in_flight_->enter();
    if (&op.latest_table() == table_) break;
    in_flight_->leave();
  }
  innermost = this;
}

KernelUseGuard::~KernelUseGuard() {
  innermost = outer_;
  if (in_flight_ != nullptr) in_flight_->leave();
}

bool KernelUseGuard::is_within(const InFlightCalls& calls) {
  for (const KernelUseGuard* call = innermost; call != nullptr; call = call->outer_) {
    if (call->in_flight_ == &calls) return true;
  }
  return false;
}

void KernelUseGuard::recount() noexcept {
  for (const KernelUseGuard* call = innermost; call != nullptr; call = call->outer_) {
    if (call->in_flight_ != nullptr) call->in_flight_->enter();
  }
}

}  // namespace keyway::inline v1
