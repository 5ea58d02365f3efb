#include <keyway/core/keys/thread_state.h>

namespace keyway::inline v1 {

constinit thread_local ThreadState thread_state;

}  // namespace keyway::inline v1
