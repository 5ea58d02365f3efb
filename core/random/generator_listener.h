// Who hears that a generator is made, seeded or given a state, that its state is read, or that a ThreadSeed begins or
// ends: what a graph of a thread's calls (graph/capture.h) cannot follow.
#pragma once

#include <keyway/core/base/macros.h>

namespace keyway::inline v1 {

// Called in this thread before it happens, which it may forbid by throwing. Null: nobody hears. Gives who did before.
using GeneratorListener = void (*)();
KEYWAY_API GeneratorListener exchange_generator_listener(GeneratorListener listener);
// To be called before such a thing happens.
KEYWAY_API void tell_generator_listener();

}  // namespace keyway::inline v1
