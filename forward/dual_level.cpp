#include <keyway/core/keys/thread_bound.h>
#include <keyway/forward/dual_level.h>
#include <keyway/forward/forward_kernel.h>
#include <keyway/forward/views.h>

namespace keyway::inline v1 {
namespace {

constinit std::atomic<std::uint64_t> next_level{1};

}  // namespace

DualLevel::DualLevel()
    : state_(std::make_shared<forward::DualLevelState>(next_level.fetch_add(1, std::memory_order_relaxed))),
      outer_(innermost()),
      tracker_(std::make_unique<forward::ViewTracker>()) {
  forward::register_kernels();
  thread_bound.dual_level = this;
}

DualLevel::~DualLevel() {
  state_->end();
  thread_bound.dual_level = outer_;
}

const DualLevel* DualLevel::innermost() { return thread_bound.dual_level; }

}  // namespace keyway::inline v1
