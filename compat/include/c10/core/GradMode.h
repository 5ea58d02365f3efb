// Whether calls are recorded.
#pragma once

#include <keyway/core/keys/thread_state.h>

#include <keyway_compat/namespaces.h>

namespace c10 {
struct GradMode {
  static bool is_enabled() { return keyway::grad_enabled(); }
  static void set_enabled(bool enabled) { keyway::thread_state.grad_disabled = !enabled; }
};
}  // namespace c10
