// What a thread's calls depend on, for another thread: ThreadLocalState and ThreadLocalStateGuard.
#pragma once

#include <keyway/tasks/thread_local_state.h>

#include <keyway_compat/namespaces.h>
