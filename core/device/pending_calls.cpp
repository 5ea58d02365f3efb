#include <keyway/core/device/pending_calls.h>

#include <atomic>

namespace keyway::inline v1 {

namespace {
constinit std::atomic<const PendingCalls*> pending_calls{nullptr};
}  // namespace

void set_pending_calls(const PendingCalls* calls) { pending_calls = calls; }

void make_calls_pending_for(const TensorBase& tensor) {
  if (const PendingCalls* const calls = pending_calls) calls->make_for(tensor);
}

void make_pending_calls(const char* why) {
  if (const PendingCalls* const calls = pending_calls) calls->make(why);
}

}  // namespace keyway::inline v1
