#include <keyway/dispatch/call/kernel_owner.h>

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

void KernelOwner::enter() noexcept { stripes_[thread_number() % kStripes].calls.fetch_add(1); }

void KernelOwner::leave() noexcept { stripes_[thread_number() % kStripes].calls.fetch_sub(1); }

// Each stripe need be seen empty once: who counts itself in afterwards reads the new table and leaves again.
void KernelOwner::wait() const {
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

void KernelOwner::restart() noexcept {
  for (Stripe& stripe : stripes_) stripe.calls.store(0);
}

KernelUseGuard::KernelUseGuard(const OperatorEntry& op, DispatchKeySet keys) : outer_(innermost) {
  for (;;) {
    table_ = &op.latest_table();
    found_ = table_->find_past_mark(keys);
    owner_ = table_->info[found_.kernel].owner;
    if (owner_ == nullptr) break;
    owner_->enter();
    if (&op.latest_table() == table_) break;
    owner_->leave();
  }
  innermost = this;
}

KernelUseGuard::~KernelUseGuard() {
  innermost = outer_;
  if (owner_ != nullptr) owner_->leave();
}

bool KernelUseGuard::is_within(const KernelOwner& owner) {
  for (const KernelUseGuard* call = innermost; call != nullptr; call = call->outer_) {
    if (call->owner_ == &owner) return true;
  }
  return false;
}

void KernelUseGuard::recount() noexcept {
  for (const KernelUseGuard* call = innermost; call != nullptr; call = call->outer_) {
    if (call->owner_ != nullptr) call->owner_->enter();
  }
}

}  // namespace keyway::inline v1
