// Whether calls are recorded.
#pragma once

#include <keyway/core/keys/thread_state.h>

#include <keyway_compat/namespaces.h>
