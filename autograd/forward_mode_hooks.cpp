#include <keyway/autograd/forward_mode_hooks.h>

#include <atomic>

namespace keyway::inline v1::autograd {
namespace {
constinit std::atomic<const ForwardModeHooks*> in_use{nullptr};
}

void set_forward_mode_hooks(const ForwardModeHooks& hooks) { in_use.store(&hooks, std::memory_order_release); }

const ForwardModeHooks& forward_mode_hooks() { return *in_use.load(std::memory_order_acquire); }

}  // namespace keyway::inline v1::autograd
