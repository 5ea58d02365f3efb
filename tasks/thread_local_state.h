// ThreadLocalState: what the calls of a thread depend on, kept so that another thread can go on in the same way.
#pragma once

#include <keyway/core/base/macros.h>
#include <keyway/core/device/stream.h>
#include <keyway/core/dtype/scalar_type.h>
#include <keyway/core/keys/thread_bound.h>
#include <keyway/core/keys/thread_state.h>

#include <array>
#include <vector>

namespace keyway::inline v1::autograd {
class SavedTensorHooks;
}

namespace keyway::inline v1 {

// Of the thread that makes it: keys that are included and excluded, the modes of gradients and of inference, autocast,
// and of each device type in use the current device and the current streams.
//
// What lives on the stack of a thread stays there: levels of vmap and of forward mode, seeds
// (core/random/thread_seed.h), hooks of saved tensors, Python's modes, listeners of the profiler. A thread that has the
// state of another meets neither the other's nor its own. The default dtype is the process's.
class KEYWAY_API ThreadLocalState {
 public:
  ThreadLocalState();

 private:
  friend class ThreadLocalStateGuard;
  void make_current_devices() const;

  ThreadState thread_;
  std::array<ScalarType, kNumDeviceTypes> autocast_dtypes_;
  bool autocast_cache_;
  std::vector<Device> devices_;  // the current ones
  std::vector<Stream> streams_;
};

// The thread has the state while the guard lives, and then its own again. It is an autocast region of its own: what it
// converts is let go with it.
class KEYWAY_API ThreadLocalStateGuard {
 public:
  // Throws what a backend throws that cannot make a stream or a device current, and what a capture throws that a
  // ThreadSeed is set aside in; the state is as before then.
  explicit ThreadLocalStateGuard(const ThreadLocalState& state);
  ~ThreadLocalStateGuard();
  ThreadLocalStateGuard(const ThreadLocalStateGuard&) = delete;
  ThreadLocalStateGuard& operator=(const ThreadLocalStateGuard&) = delete;

 private:
  ThreadLocalState before_;
  ThreadBound bound_before_;
  autograd::SavedTensorHooks* hooks_before_;
};

}  // namespace keyway::inline v1
