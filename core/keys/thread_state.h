// Thread state: what a thread adds to and takes from every call's key set, and the gradient mode.
//
// One struct, constant-initialised and trivially destructible, read through the initial-exec model: a load
// relative to the thread pointer, no guard and no call. Its zero value is the normal state.
#pragma once

#include <keyway/core/keys/dispatch_key_set.h>

#include <cstdint>

namespace keyway::inline v1 {

struct ThreadState {
  std::uint64_t included = 0;  // keys; BackendSelect is not among them: a factory's call adds it by itself
  std::uint64_t excluded = 0;  // keys; exclusion wins
  bool grad_disabled = false;
  bool inference = false;  // tensors made now carry neither Autograd nor ADInplaceOrView
  // Device types whose calls are autocast, one bit each; Autocast is among the included keys as long as there is one.
  std::uint32_t autocast = 0;
};

extern KEYWAY_API constinit thread_local ThreadState thread_state __attribute__((tls_model("initial-exec")));

inline DispatchKeySet included_keys() { return DispatchKeySet::from_raw(thread_state.included); }
inline DispatchKeySet excluded_keys() { return DispatchKeySet::from_raw(thread_state.excluded); }

// The keys a new tensor carries besides its backend's: in inference mode none.
inline DispatchKeySet birth_keys() {
  return thread_state.inference ? DispatchKeySet() : DispatchKeySet(Functionality::ADInplaceOrView);
}

// Restores the whole thread state when it goes: base of the guards below.
class ThreadStateGuard {
 public:
  ThreadStateGuard() : saved_(thread_state) {}
  ~ThreadStateGuard() { thread_state = saved_; }
  ThreadStateGuard(const ThreadStateGuard&) = delete;
  ThreadStateGuard& operator=(const ThreadStateGuard&) = delete;

 private:
  ThreadState saved_;
};

// Adds keys to every call of this thread.
class IncludeDispatchKeyGuard : ThreadStateGuard {
 public:
  explicit IncludeDispatchKeyGuard(DispatchKeySet keys) { thread_state.included |= keys.raw(); }
};

// Takes keys from every call of this thread. Backend bits of the set are ignored: a call keeps its backend.
class ExcludeDispatchKeyGuard : ThreadStateGuard {
 public:
  explicit ExcludeDispatchKeyGuard(DispatchKeySet keys) {
    thread_state.excluded |= keys.raw() & ~DispatchKeySet::kBackendMask;
  }
};

// Runs a kernel's own calls below Autograd; gradient bookkeeping of views and versions goes on.
class AutoDispatchBelowAutograd : ExcludeDispatchKeyGuard {
 public:
  AutoDispatchBelowAutograd() : ExcludeDispatchKeyGuard(kAutogradKeys) {}
};

class AutoDispatchBelowADInplaceOrView : ExcludeDispatchKeyGuard {
 public:
  AutoDispatchBelowADInplaceOrView() : ExcludeDispatchKeyGuard(kAutogradRelated) {}
};

inline bool grad_enabled() { return !thread_state.grad_disabled; }

class NoGradGuard : ThreadStateGuard {
 public:
  NoGradGuard() { thread_state.grad_disabled = true; }
};

class EnableGradGuard : ThreadStateGuard {
 public:
  explicit EnableGradGuard(bool enabled = true) { thread_state.grad_disabled = !enabled; }
};

// Inference mode: no graph, no versions, no views recorded. Tensors born in it can never be part of a graph.
class InferenceMode : ThreadStateGuard {
 public:
  explicit InferenceMode(bool enabled = true) {
    thread_state.inference = enabled;
    thread_state.grad_disabled = enabled;
    if (enabled) {
      thread_state.excluded |= kAutogradKeys.raw();
    } else {
      thread_state.excluded &= ~kAutogradKeys.raw();
    }
  }
  static bool is_enabled() { return thread_state.inference; }
};

}  // namespace keyway::inline v1
