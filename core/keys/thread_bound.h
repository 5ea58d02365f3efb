// ThreadBound: what lives on the stack of a thread and its calls meet, the innermost of each kind.
//
// A thread may run a task in the midst of its own work, as one does that waits for it. The task is to meet nothing of
// that, so that it does the same in whatever thread it runs: ThreadLocalStateGuard (tasks/thread_local_state.h) puts an
// empty ThreadBound in the place of the thread's own meanwhile. A new kind has a row here, and is so set aside too.
#pragma once

#include <keyway/core/base/macros.h>

namespace keyway::inline v1 {

struct ThreadSeedStates;
class DualLevel;
namespace batching {
class VmapLevel;
}

struct ThreadBound {
  ThreadSeedStates* seed = nullptr;                 // core/random/thread_seed.h
  const batching::VmapLevel* vmap_level = nullptr;  // batching/vmap_level.h
  const DualLevel* dual_level = nullptr;            // forward/dual_level.h
  void* python_modes = nullptr;                     // python/python_dispatch.cpp
};

extern KEYWAY_API constinit thread_local ThreadBound thread_bound;

}  // namespace keyway::inline v1
