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
inline DispatchKeySet keys_of_new_tensors() {
  return thread_state.inference ? DispatchKeySet() : DispatchKeySet(Functionality::ADInplaceOrView);
}

// Adds keys to the included or excluded set. When it ends it removes only the keys that it added. If two guards add one
// key, the first removes it, even while the second lives. It ends when it is destroyed, or by leave() where the scope
// is no block, as `with` in Python. Bits of backends are left out: a call keeps its backend, whose kernels believe that
// its tensors are there.
template <std::uint64_t ThreadState::*kKeys>
class DispatchKeyGuard {
 public:
  explicit DispatchKeyGuard(DispatchKeySet keys) : added_(enter(keys)) {}
  ~DispatchKeyGuard() { leave(added_); }
  DispatchKeyGuard(const DispatchKeyGuard&) = delete;
  DispatchKeyGuard& operator=(const DispatchKeyGuard&) = delete;

  // Gives what leave() takes.
  static std::uint64_t enter(DispatchKeySet keys) {
    const std::uint64_t added = keys.raw() & ~DispatchKeySet::kBackendMask & ~(thread_state.*kKeys);
    thread_state.*kKeys |= added;
    return added;
  }
  static void leave(std::uint64_t added) { thread_state.*kKeys &= ~added; }

 private:
  std::uint64_t added_;
};

// Every call of this thread has these keys as well.
class IncludeDispatchKeyGuard : public DispatchKeyGuard<&ThreadState::included> {
 public:
  using DispatchKeyGuard::DispatchKeyGuard;
};

// No call of this thread has these keys.
class ExcludeDispatchKeyGuard : public DispatchKeyGuard<&ThreadState::excluded> {
 public:
  using DispatchKeyGuard::DispatchKeyGuard;
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

// Whether calls are recorded for backward; brings back the mode that it found.
class AutoGradMode {
 public:
  explicit AutoGradMode(bool enabled = true) : was_disabled_(thread_state.grad_disabled) {
    thread_state.grad_disabled = !enabled;
  }
  ~AutoGradMode() { thread_state.grad_disabled = was_disabled_; }
  AutoGradMode(const AutoGradMode&) = delete;
  AutoGradMode& operator=(const AutoGradMode&) = delete;

 private:
  bool was_disabled_;
};

class NoGradGuard : AutoGradMode {
 public:
  NoGradGuard() : AutoGradMode(false) {}
};

// Inference mode: no graph, no versions, no views recorded. Tensors born in it can never be part of a graph.
class InferenceMode {
 public:
  // What a thread had before, and of the keys of Autograd those that became excluded or were until now.
  struct Change {
    bool inference, grad_disabled;
    std::uint64_t added, removed;
  };

  explicit InferenceMode(bool enabled = true) : change_(enter(enabled)) {}
  ~InferenceMode() { leave(change_); }
  InferenceMode(const InferenceMode&) = delete;
  InferenceMode& operator=(const InferenceMode&) = delete;

  static bool is_enabled() { return thread_state.inference; }

  // Gives what leave() takes, where the scope is no block.
  static Change enter(bool enabled) {
    const std::uint64_t were = thread_state.excluded & kAutogradKeys.raw();
    const Change change{thread_state.inference, thread_state.grad_disabled, enabled ? kAutogradKeys.raw() & ~were : 0,
                        enabled ? 0 : were};
    thread_state.inference = thread_state.grad_disabled = enabled;
    thread_state.excluded = (thread_state.excluded & ~change.removed) | change.added;
    return change;
  }
  static void leave(const Change& change) {
    thread_state.inference = change.inference;
    thread_state.grad_disabled = change.grad_disabled;
    thread_state.excluded = (thread_state.excluded & ~change.added) | change.removed;
  }

 private:
  Change change_;
};

}  // namespace keyway::inline v1
