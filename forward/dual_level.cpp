#include <keyway/forward/dual_level.h>
#include <keyway/forward/forward_kernel.h>
#include <keyway/forward/views.h>

namespace keyway::inline v1 {
namespace {

constinit std::atomic<std::uint64_t> next_level{1};
constinit thread_local const DualLevel* innermost_dual_level = nullptr;

}  // namespace

DualLevel::DualLevel()
    : state_(std::make_shared<forward::DualLevelState>(next_level.fetch_add(1, std::memory_order_relaxed))),
      outer_(innermost_dual_level),
      tracker_(std::make_unique<forward::ViewTracker>()) {
  forward::register_kernels();
  innermost_dual_level = this;
}

DualLevel::~DualLevel() {
  state_->end();
  innermost_dual_level = outer_;
}

const DualLevel* DualLevel::innermost() { return innermost_dual_level; }

}  // namespace keyway::inline v1
